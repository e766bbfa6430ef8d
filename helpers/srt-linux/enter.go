package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/initd"
	"github.com/srt-dev/srt/helpers/srt-linux/plan"
	"golang.org/x/sys/unix"
)

// enter is launch and init in one: it answers the request from inside the namespaces, which show the host's files as they are until the
// init makes its mounts. srt changed its thread for the whole chain; thread is what the command starts with.
func enter(thread entry.Thread) int {
	self, err := os.Executable()
	return initd.Main(func() (*initd.Config, error) {
		if err != nil {
			return nil, err
		}
		return configure(plan.Helper{Build: commit, Self: self})
	}, &thread, oneshot.ControlFD)
}

func configure(h plan.Helper) (*initd.Config, error) {
	conn := os.NewFile(oneshot.RequestFD, "request")
	defer conn.Close()
	var req wire.LaunchRequest
	err := oneshot.ReadRequest(conn, &req)
	var cfg *initd.Config
	var answer wire.LaunchPlan
	if err == nil {
		cfg, answer, err = h.Configure(req)
	}
	if err == nil {
		cfg.Uid, err = outside("/proc/self/uid_map")
	}
	if err == nil {
		cfg.Gid, err = outside("/proc/self/gid_map")
	}
	if err != nil {
		_ = oneshot.WriteAnswer(conn, nil, err)
		return nil, err
	}
	return cfg, oneshot.WriteAnswer(conn, &answer, nil)
}

// outside gives the one id that the user namespace maps, as its parent sees it (user_namespaces(7)). A file of one line is not worth an
// os.File.
func outside(file string) (int, error) {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	var text [128]byte
	n, err := unix.Read(fd, text[:])
	if err != nil {
		return 0, err
	}
	if f := strings.Fields(string(text[:n])); len(f) == 3 && f[0] == "0" && f[2] == "1" {
		return strconv.Atoi(f[1])
	}
	return 0, fmt.Errorf("%s: not the one id that bubblewrap maps", file)
}
