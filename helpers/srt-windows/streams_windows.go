package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/run"
	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// breakKey is Ctrl-Break as a terminal's input, in the form in which Windows itself puts keys into a pseudo console's input.
const breakKey = "\x1b[3;70;3;1;8;1_"

// resizePoll is how often the size of the window is looked at: a console tells nobody who does not read its events.
const resizePoll = 250 * time.Millisecond

// relay moves what the command may not touch itself: a console of the user's is never handed on, because whoever holds it can type into
// the shell that started srt.
type relay struct {
	mu      sync.Mutex
	theirs  []io.Closer // ends that the runner inherits; closed here once it has them
	pumps   sync.WaitGroup
	restore []func()
	ended   chan struct{}
}

// openStreams gives the command's streams: files and pipes as they are, consoles through pipes, and a terminal when all three are one.
func openStreams(real *winapi.Real) (run.Streams, func(), error) {
	r := &relay{ended: make(chan struct{})}
	control := make(chan runas.Message, 16)
	s := run.Streams{Control: control, Started: r.started}
	files := [3]*os.File{os.Stdin, os.Stdout, os.Stderr}
	var consoles [3]bool
	for i, f := range files {
		if h := windows.Handle(f.Fd()); h == 0 || h == windows.InvalidHandle { // started without this stream: the command gets an empty one
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				return s, nil, fmt.Errorf("open %q: %w", os.DevNull, err)
			}
			files[i] = null
		}
	}
	for i, f := range files {
		var mode uint32
		consoles[i] = windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
	}
	s.Terminal = consoles[0] && consoles[1] && consoles[2]
	var keys io.Writer
	for i, f := range files {
		if !consoles[i] {
			s.Files[i] = f
			continue
		}
		pr, pw, err := os.Pipe()
		if err != nil {
			return s, nil, fmt.Errorf("make a pipe for a console: %w", err)
		}
		if i == 0 {
			s.Files[i] = pr
			r.theirs = append(r.theirs, pr)
			keys = pw
			go func() { _, _ = io.Copy(pw, f); _ = pw.Close() }() // ends with the console or with the command
			continue
		}
		s.Files[i] = pw
		r.theirs = append(r.theirs, pw)
		r.pumps.Add(1)
		go func() { defer r.pumps.Done(); _, _ = io.Copy(f, pr) }()
	}
	if s.Terminal {
		if err := r.raw(); err != nil {
			return s, nil, err
		}
		s.Size, _ = size() // a wrong first size is put right by the first look
		go r.watchSize(control, s.Size)
	}
	err := real.OnInterrupt(func(brk bool) {
		switch {
		case s.Terminal && brk && keys != nil:
			_, _ = io.WriteString(keys, breakKey)
		case s.Terminal:
		case brk:
			offer(control, runas.Message{Kind: runas.SayCtrlBreak})
		default:
			offer(control, runas.Message{Kind: runas.SayCtrlC})
		}
	})
	return s, r.finish, err
}

// offer drops what nobody takes: the command is not there yet, or not any more.
func offer(c chan<- runas.Message, m runas.Message) {
	select {
	case c <- m:
	default:
	}
}

func (r *relay) started() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.theirs {
		_ = c.Close() // the runner has them; ours would keep the pumps waiting
	}
	r.theirs = nil
}

// finish waits for the last output and gives the console back.
func (r *relay) finish() {
	r.started()
	r.pumps.Wait()
	close(r.ended)
	for _, f := range r.restore {
		f()
	}
}

// raw lets keys through as they are and has the console understand the command's terminal sequences.
func (r *relay) raw() error {
	for _, c := range []struct {
		f    *os.File
		mode uint32
	}{
		{os.Stdin, windows.ENABLE_VIRTUAL_TERMINAL_INPUT},
		{os.Stdout, windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_WRAP_AT_EOL_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING | windows.DISABLE_NEWLINE_AUTO_RETURN},
	} {
		h := windows.Handle(c.f.Fd())
		var old uint32
		if err := windows.GetConsoleMode(h, &old); err != nil {
			return fmt.Errorf("ask for the console's mode: %w", err)
		}
		if err := windows.SetConsoleMode(h, c.mode); err != nil {
			return errors.Join(fmt.Errorf("set the console's mode: %w", err))
		}
		r.restore = append(r.restore, func() { _ = windows.SetConsoleMode(h, old) })
	}
	return nil
}

func size() (runas.Size, bool) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(os.Stdout.Fd()), &info) != nil {
		return runas.Size{Columns: 80, Rows: 25}, false
	}
	return runas.Size{Columns: int(info.Window.Right-info.Window.Left) + 1, Rows: int(info.Window.Bottom-info.Window.Top) + 1}, true
}

func (r *relay) watchSize(control chan<- runas.Message, last runas.Size) {
	for {
		select {
		case <-r.ended:
			return
		case <-time.After(resizePoll):
		}
		if now, ok := size(); ok && now != last {
			last = now
			offer(control, runas.Message{Kind: runas.SayResize, Size: &now})
		}
	}
}
