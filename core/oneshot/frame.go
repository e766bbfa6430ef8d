package oneshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// AnswerLimit is how long a peer may take for one answer. It is there for a peer that hangs, not for a slow machine.
const AnswerLimit = 30 * time.Second

// Descriptors that a peer inherits.
const (
	RequestFD = 3 // verbs of the helper
	ControlFD = 4 // verb launch
	ProxyFD   = 3 // proxyd
)

const (
	kindRequest = 'Q'
	kindAnswer  = 'A'
	kindFault   = 'F'

	headerLen = 5
)

// writeMessage writes v in a frame.
func writeMessage(w io.Writer, kind byte, v any) error {
	frame, err := wire.EncodeAfter(make([]byte, headerLen), v)
	if err != nil {
		return err
	}
	if err := writeFrame(w, kind, frame); err != nil {
		return frameFault(err)
	}
	return nil
}

// writeFrame writes a frame whose header it fills in.
func writeFrame(w io.Writer, kind byte, frame []byte) error {
	n := len(frame) - headerLen
	if n > wire.MaxMessage {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "send message",
			Detail: fmt.Sprintf("%d bytes, at most %d are accepted", n, wire.MaxMessage)}
	}
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(n))
	_, err := w.Write(frame)
	return err
}

// readFrame reads one frame. The length is judged before a byte of the payload is read, and memory grows with what really came.
func readFrame(r io.Reader) (kind byte, payload string, err error) {
	var head [headerLen]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, "", frameFault(err)
	}
	switch head[0] {
	case kindRequest, kindAnswer, kindFault:
	default:
		return 0, "", &wire.Fault{Code: wire.CodeMalformed, Op: "read message", Detail: "the peer does not speak in frames"}
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > wire.MaxMessage {
		return 0, "", &wire.Fault{Code: wire.CodeTooLarge, Op: "read message",
			Detail: fmt.Sprintf("%d bytes, at most %d are accepted", n, wire.MaxMessage)}
	}
	if payload, err = readPayload(r, int(n)); err != nil {
		return 0, "", frameFault(err)
	}
	return head[0], payload, nil
}

// onCredit is how much memory a peer gets for its word alone, in bytes: a policy of some thousand paths.
const onCredit = 512 << 10

// readSize is how much is read at a time, in bytes.
const readSize = 32 << 10

func readPayload(r io.Reader, n int) (string, error) {
	var text strings.Builder
	text.Grow(min(n, onCredit))
	buf := make([]byte, min(n, readSize))
	for text.Len() < n {
		got, err := r.Read(buf[:min(len(buf), n-text.Len())])
		text.Write(buf[:got])
		if err != nil && text.Len() < n {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return "", err
		}
	}
	return text.String(), nil
}

func frameFault(err error) *wire.Fault {
	if f, ok := errors.AsType[*wire.Fault](err); ok {
		return f
	}
	f := &wire.Fault{Code: wire.CodePeerGone, Op: "read message", Detail: err.Error()}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		f.Detail = "the peer ended without an answer"
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.Detail = "the peer ended in the middle of a message"
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.Detail = "the peer did not answer in time"
	}
	return f
}
