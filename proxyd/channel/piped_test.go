package channel

import (
	"encoding/binary"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

// piping is srt's end of a conversation over pipes.
type piping struct {
	t     *testing.T
	to    *io.PipeWriter
	from  *io.PipeReader
	ended chan error
}

func startPiped(t *testing.T) *piping {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &piping{t, inW, outR, make(chan error, 1)}
	go func() { p.ended <- serve(newPiped(inR, outW), slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return p
}

func (p *piping) say(msg string) {
	p.to.Write(binary.BigEndian.AppendUint32(nil, uint32(len(msg))))
	io.WriteString(p.to, msg)
}

func (p *piping) hear() wire.ProxyEvent {
	p.t.Helper()
	var head [4]byte
	if _, err := io.ReadFull(p.from, head[:]); err != nil {
		p.t.Fatal(err)
	}
	msg := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(p.from, msg); err != nil {
		p.t.Fatal(err)
	}
	var e wire.ProxyEvent
	if err := wire.Decode(msg, wire.MaxProxyMessage, &e); err != nil {
		p.t.Fatal(err)
	}
	return e
}

func (p *piping) configure(domains []string) {
	b, err := wire.Encode(wire.ProxyCommand{Version: wire.Version, Seq: 7, Op: wire.OpConfigure, Config: &wire.ProxyConfig{Version: wire.Version, AllowedDomains: domains}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.say(string(b))
}

func TestPipedConversation(t *testing.T) {
	p := startPiped(t)
	p.configure([]string{"a.b"})
	if e := p.hear(); e.Kind != wire.EventReady || e.Seq != 7 || e.Fault != nil {
		t.Errorf("configure: %+v", e)
	}
	many := make([]string, 100_000) // far over what one datagram holds
	for i := range many {
		many[i] = "host-number-with-a-long-name-" + strings.Repeat("x", i%20) + ".example.com"
	}
	p.configure(many)
	if e := p.hear(); e.Fault != nil {
		t.Errorf("a long configuration: %+v", e)
	}
	p.to.Close()
	if err := <-p.ended; err != nil {
		t.Errorf("srt hung up: %v", err)
	}
}

func TestPipedRefusals(t *testing.T) {
	for want, say := range map[string]func(*piping){
		"read from srt: a message of more than 16842752 bytes": func(p *piping) { p.to.Write([]byte{1, 2, 0, 0}) },
		"read from srt: unexpected EOF": func(p *piping) {
			p.to.Write([]byte{0, 0, 0, 9, '{'})
			p.to.Close()
		},
	} {
		p := startPiped(t)
		go say(p)
		if e := p.hear(); e.Fault == nil || e.Fault.Error() != want {
			t.Errorf("srt is told %+v, want %s", e.Fault, want)
		}
		if err := <-p.ended; err == nil || err.Error() != want {
			t.Errorf("proxyd ends with %v, want %s", err, want)
		}
	}
}
