package socks5_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

// FuzzBytes sends a conversation of any shape; whatever it is, nothing is granted that no list allows, and the connection ends.
func FuzzBytes(f *testing.F) {
	for _, s := range []string{
		"\x05\x01\x00\x05\x01\x00\x03\x0cevil.example\x00\x50", "\x05\x01\x02\x01\x01u\x01p\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50",
		"\x05\x02\x00\x02\x05\x02\x00\x04aaaaaaaaaaaaaaaa\x00\x16", "\x05\x00", "\x05\x01\x00\x05\x01\x00\x03\x00\x00\x16", "\x05\x01\x00\x05\x01\x00\x03\x05a\x00b.c\x01\xbb",
	} {
		f.Add([]byte(s))
	}
	p := proxytest.Start(f, wire.ProxyConfig{AllowedDomains: []string{"allowed.example:1"}, DeniedDomains: []string{"*:22"}})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := proxytest.Dial(t, p.Addr)
		defer c.Close()
		c.Write(append([]byte{5}, data...))
		c.CloseWrite()
		answer, err := io.ReadAll(c)
		if err != nil && !bytes.Contains([]byte(err.Error()), []byte("reset")) {
			t.Fatalf("%q: %v", data, err)
		}
		// method choice, an answer to a password perhaps, then the reply
		for _, skip := range []int{2, 4} {
			if len(answer) >= skip+10 && answer[skip] == 5 && answer[skip+1] == 0 && answer[skip+3] == 1 && !bytes.Contains(answer, []byte("SSH-2.0-srt")) {
				t.Fatalf("%q was granted: %q", data, answer)
			}
		}
	})
}
