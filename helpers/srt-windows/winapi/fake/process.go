package fake

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Main is what a started program does. It gets its command line, its streams, what it may call, and a channel that closes when it is killed.
type Main func(line string, p *Proc) uint32

// Proc is a fake process.
type Proc struct {
	w       *Windows
	pid     uint32
	spec    winapi.StartSpec
	Token   winapi.TokenFacts
	Job     *job
	main    Main
	started bool
	killed  chan struct{}
	once    sync.Once
	held    io.Closer // its end of the pipe to exec
	done    chan struct{}
	code    uint32
}

// Killed closes when the process is ended from outside.
func (p *Proc) Killed() <-chan struct{} { return p.killed }

// Spec is what it was started with.
func (p *Proc) Spec() winapi.StartSpec { return p.spec }

type job struct {
	w       *Windows
	spec    winapi.JobSpec
	members []*Proc
	closed  bool
}

// Launch are the programs of the fake machine, and how it lies.
type Launch struct {
	Runner, Probe, Command Main
	Lie                    func(f *winapi.TokenFacts) // changes what a restricted token is, as Wine does
	Limits                 *winapi.JobSpec            // a job that is not what was asked for
	SharesLogon            bool                       // the account's logon has no identifier of its own
}

func (w *Windows) begin(user sd.SID, s winapi.StartSpec, t winapi.TokenFacts, j *job, m Main) *Proc {
	w.lastPid++
	for i, st := range s.Streams {
		if f, ok := st.(*Stream); ok && f != nil {
			s.Streams[i] = f.dup()
		}
	}
	p := &Proc{w: w, pid: 1000 + w.lastPid, spec: s, Token: t, Job: j, main: m, killed: make(chan struct{}), done: make(chan struct{})}
	w.Running[p.pid] = user
	w.procs[p.pid] = p
	if j != nil {
		j.members = append(j.members, p)
	}
	return p
}

// Pid implements winapi.Process.
func (p *Proc) Pid() uint32 { return p.pid }

// Resume implements winapi.Process.
func (p *Proc) Resume() error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if err := p.w.call("Resume %s", p.spec.Line); err != nil {
		return err
	}
	if p.started || p.w.Dead[p.pid] {
		return winapi.ErrAccessDenied
	}
	p.started = true
	go func() {
		code := p.main(p.spec.Line, p)
		p.end(code)
	}()
	return nil
}

func (p *Proc) end(code uint32) {
	p.once.Do(func() {
		p.w.mu.Lock()
		p.w.Dead[p.pid] = true
		held := p.held
		p.w.mu.Unlock()
		if held != nil {
			_ = held.Close() // as the system does
		}
		p.code = code
		for _, s := range p.spec.Streams {
			if s != nil {
				_ = s.Close() // as the system closes the handles of an ended process
			}
		}
		close(p.done)
	})
}

// Wait implements winapi.Process.
func (p *Proc) Wait() (uint32, error) {
	<-p.done
	return p.code, nil
}

// Kill implements winapi.Process.
func (p *Proc) Kill() error {
	select {
	case <-p.killed:
	default:
		close(p.killed)
	}
	p.end(1)
	return nil
}

// Close implements winapi.Process.
func (p *Proc) Close() error { return nil }

// NewJob implements winapi.Host.
func (w *Windows) NewJob(s winapi.JobSpec) (winapi.Job, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("NewJob"); err != nil {
		return nil, err
	}
	if w.Launch.Limits != nil {
		s = *w.Launch.Limits
	}
	return &job{w: w, spec: s}, nil
}

// Assign implements winapi.Job.
func (j *job) Assign(p winapi.Process) error {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	if err := j.w.call("Assign"); err != nil {
		return err
	}
	fp := p.(*Proc)
	fp.Job = j
	j.members = append(j.members, fp)
	return nil
}

// Facts implements winapi.Job.
func (j *job) Facts() (winapi.JobSpec, error) {
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	return j.spec, j.w.call("JobFacts")
}

// Close implements winapi.Job: kill on close.
func (j *job) Close() error {
	j.w.mu.Lock()
	err := j.w.call("CloseJob")
	members := slices.Clone(j.members)
	kill := j.spec.Limits&limits.JobKillOnClose != 0 && !j.closed
	j.closed = true
	j.w.mu.Unlock()
	if kill {
		for _, p := range members {
			_ = p.Kill()
		}
	}
	return err
}

type desktop struct{ w *Windows }

func (d desktop) Name() string { return `Service-0x0-1$\srt` }
func (d desktop) Close() error { d.w.mu.Lock(); defer d.w.mu.Unlock(); return d.w.call("CloseDesktop") }

// NewDesktop implements winapi.Host.
func (w *Windows) NewDesktop(station, desk sd.Descriptor) (winapi.Desktop, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return desktop{w}, w.call("NewDesktop")
}

type pipe struct {
	w      *Windows
	name   string
	server net.Conn
	client net.Conn
	by     chan uint32
}

// NewPipe implements winapi.Host.
func (w *Windows) NewPipe(name string, d sd.Descriptor) (winapi.Listener, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("NewPipe"); err != nil {
		return nil, err
	}
	p := &pipe{w: w, name: name, by: make(chan uint32, 1)}
	p.server, p.client = net.Pipe()
	w.pipes = append(w.pipes, p)
	return p, nil
}

// Accept implements winapi.Listener.
func (p *pipe) Accept(pid uint32) (io.ReadWriteCloser, error) {
	p.w.mu.Lock()
	if err := p.w.call("Accept"); err != nil {
		p.w.mu.Unlock()
		return nil, err
	}
	ended := p.w.procs[pid].done
	p.w.mu.Unlock()
	select {
	case by := <-p.by:
		if by != pid {
			return nil, errors.New("another process connected")
		}
		return p.server, nil
	case <-ended: // the real one waits for a while and gives up
		return nil, errors.New("the runner did not speak")
	}
}

// Close implements winapi.Listener.
func (p *pipe) Close() error {
	_ = p.server.Close()
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.call("ClosePipe")
}

// Connect is the client's end, for the runner.
func (p *Proc) Connect(name string) (io.ReadWriteCloser, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for _, q := range p.w.pipes {
		if q.name == name {
			q.by <- p.pid
			p.held = q.client
			return q.client, nil
		}
	}
	return nil, winapi.ErrFileNotFound
}

// StartAs implements winapi.Host: a logon with the account's password, disabled accounts and missing rights refused.
func (w *Windows) StartAs(user, password string, s winapi.StartSpec) (winapi.Process, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("StartAs %s", user); err != nil {
		return nil, err
	}
	a := w.users[strings.ToLower(user)]
	switch {
	case a == nil || a.User.Password != password:
		return nil, winapi.Errno(1326)
	case a.Flags&limits.FlagDisabled != 0:
		return nil, winapi.Errno(1331)
	case !slices.Contains(w.rights[a.sid], "SeInteractiveLogonRight"):
		return nil, winapi.Errno(0x569)
	}
	w.profiles[a.sid] = true
	return w.begin(a.sid, s, winapi.TokenFacts{User: a.sid, Groups: []sd.SID{sd.Everyone, sd.Users, CallerLogon, Logon}}, nil, w.Launch.Runner), nil
}

// InterruptsSoFar is Interrupts, safely.
func (w *Windows) InterruptsSoFar() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.Interrupts)
}
