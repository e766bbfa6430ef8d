//go:build linux || darwin

package guard

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// Serve answers the request on conn, listens to srt on control, and sweeps when that is closed. who is what the answer says of us.
func Serve(conn *os.File, control *oneshot.Channel, who wire.Description) error {
	// It ends with the channel alone: a signal that ends srt must not end its guard first.
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGTSTP)
	var req wire.GuardRequest
	err := oneshot.ReadRequest(conn, &req)
	if err == nil && req.TmpDir != "" && !filepath.IsAbs(req.TmpDir) {
		err = &wire.Fault{Code: wire.CodeMalformed, Op: "guard", Path: req.TmpDir, Detail: "is not an absolute path (a bug, please report)"}
	}
	if told := oneshot.WriteAnswer(conn, who, err); err != nil || told != nil {
		return errors.Join(err, told)
	}
	conn.Close()
	c := Command{TmpDir: req.TmpDir}
	for {
		var m wire.GuardMessage
		fds, err := control.Recv(&m)
		oneshot.CloseAll(fds)
		if err != nil { // srt has closed it, or speaks what we do not understand
			break
		}
		c.Pid = m.Pid
	}
	return errors.Join(Sweep(table{}, c, os.Getpid()), removeAll(c.TmpDir))
}

// removeAll removes the run's own directory. A command may have taken the rights to its directories away.
func removeAll(dir string) error {
	if dir == "" || os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = unix.Fchmodat(unix.AT_FDCWD, path, 0o700, unix.AT_SYMLINK_NOFOLLOW) // what cannot be opened stays, and is told below
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the temporary directory: %w", err)
	}
	return nil
}

// Stop and Kill: what has ended meanwhile needs neither, and what may not be signalled is not the command's.
func (table) Stop(pid int) { _ = unix.Kill(pid, unix.SIGSTOP) }

func (table) Kill(pid int) { _ = unix.Kill(pid, unix.SIGKILL) }
