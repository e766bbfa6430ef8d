package sandbox

import "os"

// Wrapped is a command for those who start processes themselves. The process must be started with exactly this Env, with Dir and Files,
// in a session of its own (setsid), by this program, and its standard streams are the command's. It exits as the command does, with
// 128 + N when signal N ended the command, and with 125 when srt failed. When this program ends, so does the command.
type Wrapped struct {
	Argv  []string   // Argv[0] is an absolute path
	Env   []string   // of the wrapper; the command gets its own by another way
	Dir   string     // of the wrapper
	Files []*os.File // what the process must inherit: entry i as descriptor 3+i; a nil entry is no descriptor

	c *Cmd
}

// Wrap prepares the command without starting it. Its streams, Grace and context are the caller's business then. Finish or Cancel
// must be called.
func (c *Cmd) Wrap() (*Wrapped, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	p := c.command.Plan()
	return &Wrapped{Argv: p.Argv, Env: p.Env, Dir: p.Dir, Files: c.command.Files(), c: c}, nil
}

// Kill ends the command with everything that it started.
func (w *Wrapped) Kill() { w.c.command.Stop() }

// Finish frees what belongs to the command; to be called when the process has ended. The error is a *Fault when srt failed, also when
// the command was not found.
func (w *Wrapped) Finish() error {
	err := w.c.command.Finish()
	w.c.m.end(w.c.id, w.c)
	return err
}

// Cancel is Finish for a process that was never started.
func (w *Wrapped) Cancel() {
	w.Kill()
	_ = w.Finish() // of course the command did not start
}
