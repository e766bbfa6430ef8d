package launch

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/core/wire"
)

// process is the plan's.
type process struct {
	p     *os.Process
	life  []*os.File // its ends are told to it as srt's end
	ended chan struct{}
}

// execute starts the plan with srt's own standard streams. A descriptor of the plan travels as an inherited handle, whose value stands
// in the environment as wire.HandleVariable says; nothing else is inherited.
func execute(plan wire.LaunchPlan) (_ *process, err error) {
	if len(plan.Argv) == 0 {
		return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "execute the plan", Detail: "it is empty"}
	}
	fault := func(err error) error {
		return &wire.Fault{Code: wire.CodeUnsupported, Op: "execute", Path: plan.Argv[0], Detail: err.Error()}
	}
	p := &process{ended: make(chan struct{})}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
		if err != nil {
			p.hangUp()
		}
	}()
	env := append([]string{}, plan.Env...)
	attr := &syscall.SysProcAttr{}
	for _, d := range plan.Descriptors {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fault(err)
		}
		theirs = append(theirs, r)
		switch d.Kind {
		case wire.FDData:
			go func() { _, _ = w.Write(d.Data); _ = w.Close() }() // a process that does not read it says why itself
		case wire.FDLifetime:
			p.life = append(p.life, w)
		default:
			_ = w.Close()
			return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "execute the plan", Path: d.Kind, Detail: "it wants a descriptor that nobody has"}
		}
		h := windows.Handle(r.Fd())
		if err := windows.SetHandleInformation(h, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return nil, fault(err)
		}
		attr.AdditionalInheritedHandles = append(attr.AdditionalInheritedHandles, syscall.Handle(h))
		env = append(env, wire.HandleVariable(d.Number)+"="+strconv.FormatUint(uint64(h), 10))
	}
	p.p, err = os.StartProcess(plan.Argv[0], plan.Argv, &os.ProcAttr{Dir: plan.Dir, Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: attr})
	if err != nil {
		return nil, fault(err)
	}
	return p, nil
}

// wait gives the exit status, all 32 bits of it.
func (p *process) wait() (int, error) {
	state, err := p.p.Wait()
	close(p.ended)
	p.hangUp()
	if err != nil {
		return 0, &wire.Fault{Code: wire.CodeInternal, Op: "wait for the command", Detail: err.Error()}
	}
	return state.ExitCode(), nil
}

// end tells the process that srt ends the command, and kills it when it does not go. Its job then ends what it had started.
func (p *process) end(limit time.Duration) {
	p.hangUp()
	go func() {
		select {
		case <-p.ended:
		case <-time.After(limit):
			_ = p.p.Kill() // it may have ended just now
		}
	}()
}

func (p *process) hangUp() {
	for _, f := range p.life {
		_ = f.Close() // also a second time
	}
}
