//go:build linux || darwin

package oneshot

import (
	"context"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// ask starts the helper as the leader of its own group, asks on the inherited channel and leaves no process.
func (h *Helper) ask(ctx context.Context, verb string, req, answer any) error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return &wire.Fault{Code: wire.CodeInternal, Op: "open", Path: "/dev/null", Detail: err.Error()}
	}
	defer unix.Close(null)
	attr := &syscall.SysProcAttr{Setsid: true}
	ownedBySrt(attr)
	p, err := h.start([]string{h.Path, verb}, childEnv(), []int{null, null, 2}, nil, attr)
	if err != nil {
		return err
	}
	defer p.end()
	if until, ok := ctx.Deadline(); ok && until.Before(p.conn.deadline) {
		p.conn.deadline = until
	}
	if err := p.send(req); err != nil {
		return err
	}
	return p.answer(answer)
}

// peer is a started helper before its answer.
type peer struct {
	name string
	pid  int
	conn *conn
}

// start executes the helper, or what enters it. extra maps descriptor numbers of the child to ours.
func (h *Helper) start(argv, env []string, stdio []int, extra map[int]int, attr *syscall.SysProcAttr) (*peer, error) {
	fault := func(err error) error {
		return &wire.Fault{Code: wire.CodePeerGone, Op: "start", Path: h.Path, Detail: err.Error()}
	}
	ours, theirs, err := streamPair()
	if err != nil {
		return nil, fault(err)
	}
	defer unix.Close(theirs)
	limit := h.Limit
	if limit == 0 {
		limit = AnswerLimit
	}
	c, err := newConn(ours, limit)
	if err != nil {
		unix.Close(ours)
		return nil, fault(err)
	}
	last := RequestFD
	for n := range extra {
		last = max(last, n)
	}
	files := make([]uintptr, last+1)
	for i := range files {
		files[i] = ^uintptr(0)
	}
	for i, fd := range stdio {
		files[i] = uintptr(fd)
	}
	files[RequestFD] = uintptr(theirs)
	for n, fd := range extra {
		files[n] = uintptr(fd)
	}
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: env, Files: files, Sys: attr})
	if err != nil {
		c.Close()
		return nil, fault(err)
	}
	return &peer{name: h.Path, pid: pid, conn: c}, nil
}

// childEnv is the environment of a process of srt: built, because the caller's could change what runs outside the sandbox.
func childEnv() []string { return []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"} }

func (p *peer) send(req any) error {
	if err := WriteRequest(p.conn, req); err != nil {
		return Blame(p.name, err)
	}
	return nil
}

// answer reads the one answer of a peer into v, or gives the Fault that came instead of it.
func (p *peer) answer(v any) error { return ReadAnswer(p.conn, p.name, v) }

// end frees everything and leaves no process.
func (p *peer) end() {
	p.conn.Close()
	killGroup(p.pid)
	reap(p.pid)
}

// killGroup kills the process group that the child pid leads. The child is not reaped yet, so the number cannot mean another group.
func killGroup(pid int) {
	_ = unix.Kill(-pid, unix.SIGKILL)
	_ = unix.Kill(pid, unix.SIGKILL) // in case it has left the group
}

func reap(pid int) (status unix.WaitStatus) {
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR { //nolint:errorlint // a bare errno
			return status
		}
	}
}
