package fake

import (
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Logon identifiers: that of the account's logons, and that of the user's session. The service that logs the account on may add the
// caller's to the new token.
const (
	Logon       sd.SID = "S-1-5-5-0-4711"
	CallerLogon sd.SID = "S-1-5-5-0-1234"
)

// Inner is what a runner may call.
func (p *Proc) Inner() winapi.Inner { return inner{p} }

type inner struct{ p *Proc }

func (i inner) counted(what string) error {
	i.p.w.mu.Lock()
	defer i.p.w.mu.Unlock()
	return i.p.w.call("%s", what)
}

// HardenSelf implements winapi.Inner.
func (i inner) HardenSelf(sd.Descriptor) error { return i.counted("HardenSelf") }

// LogonSIDs implements winapi.Inner: its own, and with Launch.SharesLogon the caller's too.
func (i inner) LogonSIDs() ([]sd.SID, error) {
	if i.p.w.Launch.SharesLogon {
		return []sd.SID{CallerLogon}, i.counted("LogonSIDs")
	}
	return []sd.SID{CallerLogon, Logon}, i.counted("LogonSIDs")
}

// Restrict implements winapi.Inner.
func (i inner) Restrict(s winapi.TokenSpec) (winapi.Token, error) {
	if err := i.counted("Restrict"); err != nil {
		return nil, err
	}
	groups := slices.DeleteFunc(slices.Clone(i.p.Token.Groups), func(g sd.SID) bool { return slices.Contains(s.Disable, g) })
	f := winapi.TokenFacts{User: i.p.Token.User, Groups: groups, Restricting: s.Restricting,
		WriteRestricted: s.Flags&limits.WriteRestricted != 0, Privileges: []string{limits.KeptPrivilege}}
	if i.p.w.Launch.Lie != nil {
		i.p.w.Launch.Lie(&f)
	}
	return token{i, f}, nil
}

type token struct {
	i inner
	f winapi.TokenFacts
}

// Facts implements winapi.Token.
func (t token) Facts() (winapi.TokenFacts, error) { return t.f, t.i.counted("TokenFacts") }

// Start implements winapi.Token.
func (t token) Start(s winapi.StartSpec, c winapi.Console) (winapi.Process, error) {
	w := t.i.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("Start %s", s.Line); err != nil {
		return nil, err
	}
	m := w.Launch.Command
	if strings.HasSuffix(s.Line, " probe") {
		m = w.Launch.Probe
	}
	return w.begin(t.f.User, s, t.f, t.i.p.Job, m), nil
}

// Close implements winapi.Token.
func (t token) Close() error { return nil }

type console struct{}

func (console) Resize(int, int) error { return nil }
func (console) Close() error          { return nil }

// NewConsole implements winapi.Inner.
func (i inner) NewConsole(_, _ winapi.Stream, _, _ int) (winapi.Console, error) {
	return console{}, i.counted("NewConsole")
}

// Streams implements winapi.Inner.
func (i inner) Streams() [3]winapi.Stream { return i.p.spec.Streams }

// SystemDir implements winapi.Inner.
func (i inner) SystemDir() (string, error) { return `C:\Windows\System32`, i.counted("SystemDir") }

// Exists implements winapi.Inner.
func (i inner) Exists(path string) bool {
	i.p.w.mu.Lock()
	defer i.p.w.mu.Unlock()
	n, err := i.p.w.find(path)
	return err == nil && !n.dir
}

// Interrupt implements winapi.Inner.
func (i inner) Interrupt(brk bool) error {
	i.p.w.mu.Lock()
	defer i.p.w.mu.Unlock()
	i.p.w.Interrupts = append(i.p.w.Interrupts, map[bool]string{true: "break", false: "c"}[brk])
	return nil
}

// Pipe implements winapi.Inner.
func (i inner) Pipe() (winapi.Stream, winapi.Stream, error) {
	r, w := NewPipe()
	return r, w, i.counted("Pipe")
}

// Null implements winapi.Inner.
func (i inner) Null() (winapi.Stream, error) {
	return &Stream{r: strings.NewReader(""), w: io.Discard}, i.counted("Null")
}

// Stream is a fake handle.
type Stream struct {
	r     io.Reader
	w     io.Writer
	close func() error
	once  sync.Once
}

// NewPipe gives the two ends of an anonymous pipe that buffers without bound, as far as a test goes.
func NewPipe() (r, w *Stream) {
	b := &buffer{writers: 1}
	b.more = sync.NewCond(&b.mu)
	return &Stream{r: b}, &Stream{w: b, close: b.finish}
}

type buffer struct {
	mu      sync.Mutex
	more    *sync.Cond
	data    []byte
	writers int
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	b.more.Broadcast()
	return len(p), nil
}

func (b *buffer) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.data) == 0 && b.writers > 0 {
		b.more.Wait()
	}
	if len(b.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.data)
	b.data = b.data[n:]
	return n, nil
}

func (b *buffer) finish() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writers--
	b.more.Broadcast()
	return nil
}

// dup is what a child process inherits.
func (s *Stream) dup() *Stream {
	if b, ok := s.w.(*buffer); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.writers++
	}
	return &Stream{r: s.r, w: s.w, close: s.close}
}

// Read implements winapi.Stream.
func (s *Stream) Read(p []byte) (int, error) {
	if s.r == nil {
		return 0, winapi.ErrAccessDenied
	}
	return s.r.Read(p)
}

// Write implements winapi.Stream.
func (s *Stream) Write(p []byte) (int, error) {
	if s.w == nil {
		return 0, winapi.ErrAccessDenied
	}
	return s.w.Write(p)
}

// Close implements winapi.Stream.
func (s *Stream) Close() error {
	var err error
	s.once.Do(func() {
		if s.close != nil {
			err = s.close()
		}
	})
	return err
}

// Fd implements winapi.Stream.
func (s *Stream) Fd() uintptr { return 0 }

var _ winapi.Host = (*Windows)(nil)
