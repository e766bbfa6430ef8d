package oneshot

import (
	"bytes"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

// FuzzReadFrame: whatever a peer sends gives a frame that is written the same way, or a Fault; never a panic, and never more
// memory than came.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("A\x00\x00\x00\x02{}"))
	f.Add([]byte("Q\x00\x00\x00\x05{}"))
	f.Add([]byte("F\x40\x00\x00\x00"))
	f.Add([]byte("HTTP/1.1 200 OK\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		kind, payload, err := readFrame(bytes.NewReader(in))
		if err != nil {
			if f := AsFault(err); f.Code == wire.CodeInternal {
				t.Fatalf("error %v is no fault of the peer", err)
			}
			return
		}
		var out bytes.Buffer
		if err := writeFrame(&out, kind, append(make([]byte, headerLen), payload...)); err != nil || !bytes.Equal(out.Bytes(), in[:out.Len()]) {
			t.Fatalf("%q is written as %q (%v)", in, out.Bytes(), err)
		}
	})
}
