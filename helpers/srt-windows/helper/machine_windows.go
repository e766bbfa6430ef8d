package helper

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/journal"
	"github.com/srt-dev/srt/helpers/srt-windows/run"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// UserStore is where the journal of this user lies.
func UserStore(real *winapi.Real) (journal.Store, error) {
	dir, err := real.LocalAppData()
	if err != nil {
		return nil, fmt.Errorf("find the folder of your own data: %w", err)
	}
	own := filepath.Join(dir, "srt")
	return journal.File{Dir: own}, os.MkdirAll(own, 0o700) // it must be there to be closed to commands
}

// Machine is this machine.
func Machine(real *winapi.Real, store journal.Store) run.Machine {
	var own []string
	if f, ok := store.(journal.File); ok {
		own = []string{f.Dir}
	}
	return run.Machine{Sys: real, Host: real, Store: store, Random: rand.Reader, Own: own, Listen: listen, Touch: func(path string) error { return os.WriteFile(path, nil, 0o600) }}
}

// Prove is the self-check.
func Prove(real *winapi.Real, store journal.Store) ([]wire.CheckItem, error) {
	return run.Check(Machine(real, store))
}

// New gives the helper for this machine. build is the commit, self is srt-windows.
func New(real *winapi.Real, store journal.Store, build, self string) Helper {
	profile, err := real.Profile()
	if err != nil { // the account may have none, and needs none
		profile = ""
	}
	return Helper{M: Machine(real, store), Build: build, Self: self, Profile: profile, Prove: func() ([]wire.CheckItem, error) { return Prove(real, store) }}
}

// listen opens a loopback port for the self-check.
func listen(low, high int, outside bool) (netip.AddrPort, io.Closer, error) {
	var last error
	for try := range max(high-low+1, 32) {
		port := 0
		if !outside {
			if port = low + try; port > high {
				break
			}
		}
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			last = err
			continue
		}
		at, err := netip.ParseAddrPort(l.Addr().String())
		if err == nil && (!outside || int(at.Port()) < low || int(at.Port()) > high) {
			return at, l, nil
		}
		last = errors.Join(err, l.Close())
	}
	if last == nil {
		last = errors.New("no port is free")
	}
	return netip.AddrPort{}, nil, last
}
