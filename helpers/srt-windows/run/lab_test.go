package run

import (
	"crypto/rand"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/selfcheck"
	"github.com/srt-dev/srt/helpers/srt-windows/setup"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

// store is a journal in memory.
type store struct{ data []byte }

func (s *store) Lock() (func() error, error) { return func() error { return nil }, nil }
func (s *store) Load() ([]byte, error)       { return s.data, nil }
func (s *store) Save(b []byte) error         { s.data = b; return nil }

type nothing struct{}

func (nothing) Close() error { return nil }

// lab is a machine with srt installed, on which commands are Go functions.
type lab struct {
	w       *fake.Windows
	m       Machine
	store   *store
	command func(p *fake.Proc) uint32
	// reach is what happens to a connection: an error number, 0 when it works.
	reach func(to netip.AddrPort) winapi.Errno
	// touch is what happens to a file operation of the self-check.
	touch func(op, path string) winapi.Errno
	ran   bool
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{w: fake.New(), store: &store{}}
	l.w.IsElevated = true
	if err := setup.Install(l.w, setup.Options{Random: rand.Reader}); err != nil {
		t.Fatal(err)
	}
	l.w.IsElevated, l.w.Calls = false, nil
	for _, f := range []string{`C:\Users\alice\proj\a.txt`, `C:\Program Files\srt\srt-windows.exe`, `C:\Windows\System32\cmd.exe`, `C:\tools\make.exe`, `C:\tools\npm.cmd`} {
		l.w.WriteFile(f)
	}
	l.reach = func(to netip.AddrPort) winapi.Errno {
		if to.Port() == 60080 || to.Port() == 60085 { // the command's proxy; the check without a command opens the other
			return 0
		}
		return 10013
	}
	l.touch = func(op, path string) winapi.Errno {
		if strings.HasSuffix(path, "srt-check") {
			return 0
		}
		return winapi.ErrAccessDenied
	}
	l.command = func(*fake.Proc) uint32 { return 0 }
	l.w.Launch.Command = func(_ string, p *fake.Proc) uint32 { l.ran = true; return l.command(p) }
	l.w.Launch.Probe = func(_ string, p *fake.Proc) uint32 { return l.probe(p) }
	l.w.Launch.Runner = func(line string, p *fake.Proc) uint32 {
		words := strings.Fields(line)
		name := words[len(words)-3]
		pipe, err := p.Connect(name)
		if err != nil {
			return 1
		}
		defer pipe.Close()
		if (runas.Runner{API: p.Inner(), Self: `C:\Program Files\srt\srt-windows.exe`, Pipe: pipe}).Run() != nil {
			return 1
		}
		return 0
	}
	l.m = Machine{Sys: l.w, Host: l.w, Store: l.store, Random: rand.Reader,
		Listen: func(_, _ int, outside bool) (netip.AddrPort, io.Closer, error) {
			port := uint16(60085)
			if outside {
				port = 51000
			}
			return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port), nothing{}, nil
		},
		Touch: func(path string) error { l.w.WriteFile(path); return nil }}
	return l
}

// probe answers the self-check's questions, as srt-windows probe does on the real machine.
func (l *lab) probe(p *fake.Proc) uint32 {
	raw, err := io.ReadAll(p.Spec().Streams[0])
	if err != nil {
		return 1
	}
	var s selfcheck.Spec
	if wire.Decode(raw, wire.MaxMessage, &s) != nil {
		return 1
	}
	b, err := wire.Encode(selfcheck.Try(prober{l, p}, s))
	if err != nil {
		return 1
	}
	if _, err := p.Spec().Streams[1].Write(b); err != nil {
		return 1
	}
	return 0
}

type prober struct {
	l *lab
	p *fake.Proc
}

func (x prober) OwnToken() (winapi.TokenFacts, error) { return x.p.Token, nil }
func (x prober) OwnJob() (winapi.JobSpec, error)      { return x.p.Job.Facts() }
func (x prober) Dial(to netip.AddrPort, _ bool) error {
	if e := x.l.reach(to); e != 0 {
		return e
	}
	return nil
}
func (x prober) Touch(op, path string) error {
	if e := x.l.touch(op, path); e != 0 {
		return e
	}
	return nil
}

func request() wire.LaunchRequest {
	e := wire.PathEntry{Path: `C:\Users\alice\proj`, Rule: "."}
	return wire.LaunchRequest{Version: wire.Version, CommandID: "c",
		Command: wire.Command{Argv: []string{"make", "all"}, Dir: `C:\Users\alice\proj`,
			Env: []string{`Path=C:\tools;C:\Windows\System32`, `SystemRoot=C:\Windows`, `USERPROFILE=C:\Users\alice`, "HTTP_PROXY=http://srt:tok@127.0.0.1:60080"}},
		Files:   wire.FilePolicy{ScanDepth: 2, AllowWrite: []wire.PathEntry{e}, Protected: []wire.Protected{{Name: ".bashrc", Reason: "shells run it"}}},
		Network: wire.NetPolicy{ProxyAddr: "127.0.0.1:60080"}, Host: wire.HostContext{Home: `C:\Users\alice`}}
}

func streams() Streams {
	var s Streams
	for i := range s.Files {
		r, w := fake.NewPipe()
		s.Files[i] = w
		if i == 0 {
			s.Files[i] = r
		}
	}
	return s
}
