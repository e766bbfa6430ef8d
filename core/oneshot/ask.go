package oneshot

import (
	"io"

	"github.com/srt-dev/srt/core/wire"
)

// WriteRequest sends the one request of a verb.
func WriteRequest(w io.Writer, req any) error { return writeMessage(w, kindRequest, req) }

// ReadAnswer reads the one answer of a peer into v, or gives the Fault that came instead of it. name is how faults call the peer.
func ReadAnswer(r io.Reader, name string, v any) error {
	kind, payload, err := readFrame(r)
	if err != nil {
		return Blame(name, err)
	}
	switch kind {
	case kindAnswer:
		if err := wire.DecodeText(payload, wire.MaxMessage, v); err != nil {
			return Blame(name, err)
		}
		return nil
	case kindFault:
		var f wire.Fault
		if err := wire.DecodeText(payload, wire.MaxMessage, &f); err != nil {
			return Blame(name, err)
		}
		return &f
	}
	return Blame(name, &wire.Fault{Code: wire.CodeMalformed, Op: "read message", Detail: "a request where an answer belongs"})
}

// Blame names the peer in a fault that srt itself found.
func Blame(name string, err error) *wire.Fault {
	f := AsFault(err)
	return &wire.Fault{Code: f.Code, Op: "ask", Path: name, Detail: f.Detail, Hint: f.Hint}
}
