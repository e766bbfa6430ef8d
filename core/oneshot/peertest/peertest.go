// Package peertest is what a helper or a proxyd may do wrong and what its caller must get for it, whatever the transport: one table for
// all of them. It must never be imported by anything but tests.
package peertest

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// Behaviour is what a fake peer does with a request.
type Behaviour struct {
	Answer []byte // goes out as it is
	Then   Then
}

// Then is what a fake peer does after its answer.
type Then int

// Ends of a fake peer.
const (
	End  Then = iota // closes the conversation as a good peer does
	Die              // exits with a status
	Kill             // is killed by a signal
	Hang             // does nothing any more
)

// Do carries out what comes after the answer; it returns for End only.
func (t Then) Do(exit func(int)) {
	switch t {
	case Die:
		exit(5)
	case Kill:
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Kill()
		}
		time.Sleep(time.Hour)
	case Hang:
		time.Sleep(time.Hour)
	}
}

// frame is a frame of core/oneshot.
func frame(kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body))), body...)
}

const description = `{"version":1,"name":"fake","os":"","arch":"","build":"","features":[]}`

// helpers: answers to a DescribeRequest.
var helpers = map[string]struct {
	does Behaviour
	want wire.Fault
}{
	"crashes":                 {Behaviour{nil, Die}, wire.Fault{Code: wire.CodePeerGone, Detail: "the peer ended without an answer"}},
	"is killed":               {Behaviour{nil, Kill}, wire.Fault{Code: wire.CodePeerGone, Detail: "the peer ended without an answer"}},
	"hangs":                   {Behaviour{nil, Hang}, wire.Fault{Code: wire.CodePeerGone, Detail: "the peer did not answer in time"}},
	"ends in the middle":      {Behaviour{frame('A', description)[:9], End}, wire.Fault{Code: wire.CodePeerGone, Detail: "the peer ended in the middle of a message"}},
	"answers nothing":         {Behaviour{nil, End}, wire.Fault{Code: wire.CodePeerGone, Detail: "the peer ended without an answer"}},
	"answers rubbish":         {Behaviour{[]byte("Segmentation fault (core dumped)\n"), End}, wire.Fault{Code: wire.CodeMalformed, Detail: "the peer does not speak in frames"}},
	"answers no JSON":         {Behaviour{frame('A', "plan: yes"), End}, wire.Fault{Code: wire.CodeMalformed, Detail: "'p' where '{' belongs, at byte 0"}},
	"answers another version": {Behaviour{frame('A', strings.Replace(description, "1", "2", 1)), End}, wire.Fault{Code: wire.CodeVersion, Detail: "the peer does not speak version 1", Hint: "install srt and its helpers from one build"}},
	"answers another message": {Behaviour{frame('A', `{"version":1,"items":[]}`), End}, wire.Fault{Code: wire.CodeMalformed, Detail: `Description: unknown key "items"`}},
	"asks back":               {Behaviour{frame('Q', `{"version":1}`), End}, wire.Fault{Code: wire.CodeMalformed, Detail: "a request where an answer belongs"}},
	"announces 1 GiB":         {Behaviour{[]byte{'A', 0x40, 0, 0, 0}, End}, wire.Fault{Code: wire.CodeTooLarge, Detail: "1073741824 bytes, at most 16777216 are accepted"}},
	"sends 16 MiB of zeros":   {Behaviour{frame('A', strings.Repeat("\x00", wire.MaxMessage)), End}, wire.Fault{Code: wire.CodeMalformed, Detail: `'\x00' where '{' belongs, at byte 0`}},
	"refuses badly":           {Behaviour{frame('F', `{"code":"policy"}`), End}, wire.Fault{Code: wire.CodeMalformed, Detail: `Fault: key "op" is missing`}},
}

// refusal is what the helper "refuses" answers: the caller must get it unchanged.
var refusal = wire.Fault{Code: wire.CodeUnsupported, Op: "mount", Path: "/x", Detail: "no user namespaces", Hint: "enable them"}

// Helper is what the fake helper of that name does.
func Helper(name string) (Behaviour, bool) {
	if name == "refuses" {
		b, err := wire.Encode(&refusal)
		return Behaviour{frame('F', string(b)), End}, err == nil
	}
	c, ok := helpers[name]
	return c.does, ok
}

// Short is the limit for one answer that a test of a peer of that name should set; 0 when it need not.
func Short(name string) time.Duration {
	if strings.HasPrefix(name, "hangs") {
		return time.Second
	}
	return 0
}

// RunHelpers asks every fake helper and judges the faults. start gives the helper of that name, and how faults have to call it.
func RunHelpers(t *testing.T, start func(t *testing.T, name string) (h wire.Helper, path string)) {
	for name, c := range helpers {
		t.Run(name, func(t *testing.T) {
			h, path := start(t, name)
			began := time.Now()
			_, err := h.Describe(t.Context())
			judge(t, err, c.want, path)
			if time.Since(began) > 20*time.Second {
				t.Errorf("took %v", time.Since(began))
			}
		})
	}
	t.Run("refuses", func(t *testing.T) {
		h, _ := start(t, "refuses")
		_, err := h.Describe(t.Context())
		if got, ok := errors.AsType[*wire.Fault](err); !ok || *got != refusal {
			t.Errorf("got %v, want %v", err, &refusal)
		}
	})
}

func judge(t *testing.T, err error, want wire.Fault, path string) {
	t.Helper()
	got, ok := errors.AsType[*wire.Fault](err)
	if !ok {
		t.Fatalf("error %v, want a fault", err)
	}
	if got.Code != want.Code || got.Detail != want.Detail || got.Hint != want.Hint {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.Op != "ask" || got.Path != path {
		t.Errorf("the fault %q does not name %q", got, path)
	}
}
