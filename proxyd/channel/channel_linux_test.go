package channel

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// peer is srt's end of a channel that Serve has the other end of.
type peer struct {
	*net.UnixConn
	ended chan error
}

func start(t *testing.T) *peer {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[0]), "srt")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{c.(*net.UnixConn), make(chan error, 1)}
	p.SetDeadline(time.Now().Add(2 * time.Minute)) // far beyond what a busy machine takes
	go func() { p.ended <- Serve(uintptr(fds[1]), slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() { p.Close() })
	return p
}

func (p *peer) say(t *testing.T, msg string, fds ...int) {
	t.Helper()
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	if _, _, err := p.WriteMsgUnix([]byte(msg), oob, nil); err != nil {
		t.Fatal(err)
	}
}

func (p *peer) hear(t *testing.T) wire.ProxyEvent {
	t.Helper()
	b := make([]byte, wire.MaxProxyMessage)
	n, err := p.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	var e wire.ProxyEvent
	if err := wire.Decode(b[:n], wire.MaxProxyMessage, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// encode gives the bytes of a command.
func encode(t *testing.T, c wire.ProxyCommand) string {
	t.Helper()
	c.Version = wire.Version
	b, err := wire.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func config() wire.ProxyConfig {
	return wire.ProxyConfig{Version: wire.Version, AllowedDomains: []string{}, DeniedDomains: []string{}, DeniedDomainReasons: map[string]string{}, DeniedResolvedAddresses: []string{}}
}

// memfd holds b in an anonymous file.
func memfd(t *testing.T, b []byte) int {
	t.Helper()
	fd, err := unix.MemfdCreate("config", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.Write(fd, b); err != nil {
		t.Fatal(err)
	}
	return fd
}

func TestConfigByDescriptor(t *testing.T) {
	cfg := config()
	for i := range 20_000 { // more than one datagram holds
		cfg.AllowedDomains = append(cfg.AllowedDomains, strings.Repeat("a", 20)+string(rune('a'+i%26))+".example")
	}
	b, err := wire.Encode(cfg)
	if err != nil || len(b) < wire.MaxProxyMessage {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	p := start(t)
	p.say(t, encode(t, wire.ProxyCommand{Seq: 3, Op: wire.OpConfigure, ConfigFD: true}), memfd(t, b))
	if e := p.hear(t); e.Seq != 3 || e.Fault != nil {
		t.Errorf("%+v, %v", e, e.Fault)
	}
	for name, c := range map[string]struct {
		fds  []int
		want string
	}{
		"no descriptor":    {nil, "configure: a configuration travels in one descriptor"},
		"two descriptors":  {[]int{memfd(t, b), memfd(t, b)}, "configure: a configuration travels in one descriptor"},
		"half a config":    {[]int{memfd(t, b[:100])}, "decode ProxyConfig: ProxyConfig.allowedDomains: the message ends in the middle"},
		"too large":        {[]int{memfd(t, make([]byte, wire.MaxProxyConfig+1))}, "decode ProxyConfig: 16777217 bytes, at most 16777216 are accepted"},
		"an unknown key":   {[]int{memfd(t, []byte(`{"version":1,"allow":[]}`))}, `decode ProxyConfig: ProxyConfig: unknown key "allow"`},
		"another version":  {[]int{memfd(t, []byte(`{"version":2}`))}, "decode ProxyConfig: the peer does not speak version 1"},
		"a key is missing": {[]int{memfd(t, []byte(`{"version":1}`))}, `decode ProxyConfig: ProxyConfig: key "allowedDomains" is missing`},
	} {
		p.say(t, encode(t, wire.ProxyCommand{Seq: 4, Op: wire.OpConfigure, ConfigFD: true}), c.fds...)
		if e := p.hear(t); e.Seq != 4 || e.Fault == nil || e.Fault.Error() != c.want {
			t.Errorf("%s: %+v, %v", name, e, e.Fault)
		}
	}
	p.Close()
	if err := <-p.ended; err != nil {
		t.Errorf("srt's end was closed: %v", err)
	}
}

func TestCommandsThatDoNotMakeSense(t *testing.T) {
	cfg := config()
	p := start(t)
	for want, c := range map[string]struct {
		cmd wire.ProxyCommand
		fds []int
	}{
		"configure: not exactly the field that belongs to the operation": {wire.ProxyCommand{Op: wire.OpConfigure}, nil},
		"detach: not exactly the field that belongs to the operation":    {wire.ProxyCommand{Op: wire.OpDetach, Detach: "x", Config: &cfg}, nil},
		"attach: not an operation with what belongs to it":               {wire.ProxyCommand{Op: wire.OpAttach, Detach: "x"}, nil},
		"explode: not an operation with what belongs to it":              {wire.ProxyCommand{Op: "explode", Detach: "x"}, nil},
		"configure: descriptors that do not belong to the operation":     {wire.ProxyCommand{Op: wire.OpConfigure, Config: &cfg}, []int{memfd(t, nil)}},
		`attach command "x": a configuration has to come first`:          {wire.ProxyCommand{Op: wire.OpAttach, Attach: &wire.Attach{CommandID: "x", Listeners: []wire.Listener{}}}, nil},
		`assign lists to command "x": no such command is attached`:       {wire.ProxyCommand{Op: wire.OpAssign, Assign: &wire.Assign{CommandID: "x"}}, nil},
		"assign: not an operation with what belongs to it":               {wire.ProxyCommand{Op: wire.OpAssign, Detach: "x"}, nil},
		`detach command "x": no such command is attached`:                {wire.ProxyCommand{Op: wire.OpDetach, Detach: "x"}, nil},
	} {
		c.cmd.Seq = 9
		p.say(t, encode(t, c.cmd), c.fds...)
		if e := p.hear(t); e.Kind != wire.EventReady || e.Seq != 9 || e.Fault == nil || e.Fault.Error() != want {
			t.Errorf("%+v, %v; want %s", e, e.Fault, want)
		}
	}
	p.say(t, encode(t, wire.ProxyCommand{Op: wire.OpAnswer, Answer: &wire.Answer{ID: 1}})) // has no answer
	p.say(t, encode(t, wire.ProxyCommand{Seq: 10, Op: wire.OpConfigure, Config: &cfg}))
	if e := p.hear(t); e.Seq != 10 || e.Fault != nil {
		t.Errorf("%+v, %v", e, e.Fault)
	}
}

// TestRubbishEndsTheProcess shows that a message that is not understood is not survived: a deny list could have been in it.
func TestRubbishEndsTheProcess(t *testing.T) {
	for name, msg := range map[string]string{
		"not JSON":          "hello",
		"an unknown key":    `{"version":1,"seq":1,"op":"detach","detach":"x","deny":["*"]}`,
		"another version":   `{"version":2,"seq":1,"op":"detach","detach":"x"}`,
		"two messages":      `{"version":1,"seq":1,"op":"detach","detach":"x"}{}`,
		"too long":          `{"version":1,"seq":1,"op":"detach","detach":"` + strings.Repeat("x", wire.MaxProxyMessage) + `"}`,
		"a key twice":       `{"version":1,"seq":1,"seq":2,"op":"detach","detach":"x"}`,
		"a wrong cased key": `{"version":1,"Seq":1,"op":"detach","detach":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			p.say(t, msg, memfd(t, nil))
			if e := p.hear(t); e.Kind != wire.EventReady || e.Seq != 0 || e.Fault == nil {
				t.Errorf("%+v", e)
			}
			if err := <-p.ended; err == nil {
				t.Error("no error")
			} else if _, ok := errors.AsType[*wire.Fault](err); !ok {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAPeerThatDoesNotRead(t *testing.T) {
	p := start(t)
	for range 20_000 { // more answers than the socket holds
		p.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		if _, err := p.Write([]byte(encode(t, wire.ProxyCommand{Seq: 1, Op: wire.OpDetach, Detach: "x"}))); err != nil {
			break
		}
	}
	p.Close()
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		t.Error("proxyd lives on without srt")
	}
}

func TestOpenRefusesWhatIsNotAChannel(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	if err := Serve(uintptr(fds[1]), nil); err == nil || !strings.Contains(err.Error(), "is not the socket that srt passes") {
		t.Errorf("a stream: %v", err)
	}
	if err := Serve(uintptr(memfd(t, nil)), nil); err == nil || !strings.HasPrefix(err.Error(), "open the channel to srt: descriptor ") {
		t.Errorf("a file: %v", err)
	}
	if err := Serve(999, nil); err == nil || !strings.HasPrefix(err.Error(), "open the channel to srt: descriptor 999") {
		t.Errorf("nothing: %v", err)
	}
}
