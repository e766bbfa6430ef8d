package escape

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// The host reads a FIFO in a directory that is not writable, as daemons read commands.
func init() {
	classes["pipes"] = class{
		settings: func(string) string { return `{"filesystem":{"allowWrite":["."]}}` },
		prepare: func(t *testing.T, s stage) {
			if err := unix.Mkfifo(s.Out+"/pipe", 0o666); err != nil {
				t.Fatal(err)
			}
			fd, err := unix.Open(s.Out+"/pipe", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unix.Close(fd) })
			pipes[s.Out] = fd
		},
		through: func(s stage, _, _ string, _ outcome) bool {
			var b [64]byte
			n, err := unix.Read(pipes[s.Out], b[:])
			return err == nil && n > 0
		},
		attacks: pipeAttacks,
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); e == 0 {
		c := classes["pipes"]
		c.attacks = append(c.attacks, plainPipeAttacks...)
		classes["pipes"] = c
	}
}

// pipes are the host's ends, by the directory of the stage.
var pipes = map[string]int{}

func pipeIn(name string, flags int) error {
	return withOpen(name, flags|unix.O_NONBLOCK, func(fd int) error {
		_, err := unix.Write(fd, []byte("attacked"))
		return err
	})
}

func opened(flags int) func(stage) (string, error) {
	return do(func(s stage) error { return pipeIn(s.Out+"/pipe", flags) })
}

func reopened(flags int) func(stage) (string, error) {
	return do(func(s stage) error {
		return withOpen(s.Out+"/pipe", unix.O_RDONLY|unix.O_NONBLOCK, func(fd int) error { return pipeIn(fmt.Sprintf("/proc/self/fd/%d", fd), flags) })
	})
}

var pipeAttacks = []attack{
	{"write where it could be created", anybody, opened(unix.O_WRONLY | unix.O_CREAT)},
	{"read and write where it could be created", anybody, opened(unix.O_RDWR | unix.O_CREAT | unix.O_APPEND)},
	{"reopen where it could be created", anybody, reopened(unix.O_WRONLY | unix.O_CREAT)},
	{"creat", anybody, do(func(s stage) error {
		fd, err := unix.Creat(s.Out+"/pipe", 0o600)
		if err == nil {
			_, err = unix.Write(fd, []byte("attacked"))
		}
		return err
	})},
	{"through a link", anybody, do(func(s stage) error {
		if err := os.Symlink(s.Out+"/pipe", s.Work+"/link"); err != nil {
			return err
		}
		return pipeIn(s.Work+"/link", unix.O_WRONLY|unix.O_CREAT)
	})},
	{"a second name", nobody, do(func(s stage) error { // another mount
		if err := os.Link(s.Out+"/pipe", s.Work+"/pipe"); err != nil {
			return err
		}
		return pipeIn(s.Work+"/pipe", unix.O_WRONLY)
	})},
}

// plainPipeAttacks are those that the supervisor does not see.
var plainPipeAttacks = []attack{
	{"write", anybody, opened(unix.O_WRONLY)},
	{"read and write", anybody, opened(unix.O_RDWR)},
	{"truncate", anybody, opened(unix.O_WRONLY | unix.O_TRUNC)},
	{"reopen", anybody, reopened(unix.O_WRONLY)},
	{"reopen a bare path descriptor", anybody, do(func(s stage) error {
		return withOpen(s.Out+"/pipe", unix.O_PATH, func(fd int) error { return pipeIn(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY) })
	})},
	{"from the working directory", anybody, do(func(s stage) error {
		if err := unix.Chdir(s.Out); err != nil {
			return err
		}
		return pipeIn("pipe", unix.O_RDWR)
	})},
}
