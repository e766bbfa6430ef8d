package initd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/mounts"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// maxConfig bounds the configuration in bytes; 100,000 rules fit.
const maxConfig = 64 << 20

// Config is what the init has to do.
type Config struct {
	Version   int             `json:"version"`
	CommandID string          `json:"commandId"`
	View      view.View       `json:"view"`
	Command   wire.Command    `json:"command"`
	Process   wire.ProcPolicy `json:"process"`
	Network   wire.NetPolicy  `json:"network"`
	Explain   bool            `json:"explain"`
	Audit     bool            `json:"audit"`
	Uid       int             `json:"uid"` // the caller's, outside
	Gid       int             `json:"gid"`
	Self      string          `json:"self"`    // path of this binary
	ByBwrap   bool            `json:"byBwrap"` // bubblewrap made the mounts (package bwrap, ArgvMounts)
	// SharedProc: /proc is that of the container around, and of its PID namespace (enableWeakerNestedSandbox). Nothing is supervised.
	SharedProc bool `json:"sharedProc"`
	// Identities, with ByBwrap: what the steps of View named before, in their order.
	Identities []mounts.Identity `json:"identities,omitempty"`
}

// ReadConfig reads the configuration that a plan put into an anonymous file, as `srt-linux launch` and sessions do.
func ReadConfig(fd int) (*Config, error) {
	f := os.NewFile(uintptr(fd), "config")
	if f == nil {
		return nil, errors.New("no configuration")
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	c := new(Config)
	return c, wire.Decode(b, maxConfig, c)
}
