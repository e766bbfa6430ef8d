package httpproxy

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/hostmatch"
)

// FuzzRequest compares our reading of a head with net/http's: what we let pass, another reader must understand in the same way.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"GET http://a.example/x?y HTTP/1.1\r\nHost: b\r\n\r\n",
		"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
		"POST http://[::1]:80/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
		"POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close, X\r\nX: y\r\n\r\n",
		"GET http://a/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"GET http://a@b/ HTTP/1.1\r\nHost : a\r\nX: y\r\n z\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		end := bytes.Index(head, []byte("\r\n\r\n"))
		if end < 0 {
			return
		}
		head = head[:end+4]
		if hopeless(head) != nil {
			return
		}
		r, bad := parseRequest(head)
		if bad != nil {
			if bad.Status < 400 || bad.Code == "" || bad.Reason == "" || bad.Detail == "" {
				t.Fatalf("refused as %+v", bad)
			}
			return
		}
		if !r.target.dest.IsValid() {
			t.Fatalf("%q passes without a destination", head)
		}
		// The target is ours alone; net/http gets a harmless one.
		uri := "http://x/"
		if r.method == http.MethodConnect {
			uri = "x:1"
		}
		parts := strings.SplitN(string(head), " ", 3)
		theirs, err := http.ReadRequest(bufio.NewReader(strings.NewReader(parts[0] + " " + uri + " " + parts[2])))
		if err != nil {
			return // stricter than we are: about characters in values, and Host
		}
		if theirs.Method != r.method || theirs.ProtoMinor != r.minor {
			t.Fatalf("%q: method %q, version %d; net/http reads %q, %d", head, r.method, r.minor, theirs.Method, theirs.ProtoMinor)
		}
		if chunked := slices.Contains(theirs.TransferEncoding, "chunked"); chunked != r.chunked || !chunked && theirs.ContentLength != r.length {
			t.Fatalf("%q: length %d, chunked %v; net/http reads %d, %v", head, r.length, r.chunked, theirs.ContentLength, theirs.TransferEncoding)
		}
		out := (&origin{}).appendRequest(nil, r)
		sent := strings.SplitN(string(out), " ", 3) // the path stays as it came, also one that net/http refuses ("/%")
		again, err := http.ReadRequest(bufio.NewReader(strings.NewReader(sent[0] + " / " + sent[2])))
		if err != nil {
			t.Fatalf("%q becomes %q: %v", head, out, err)
		}
		if sent, err := hostmatch.ParseHostPort(again.Host, 80); r.method != http.MethodConnect && (err != nil || sent != r.target.dest) {
			t.Fatalf("%q was judged as %v and sent as %q, %v", head, r.target.dest, again.Host, err)
		}
		if chunked := slices.Contains(again.TransferEncoding, "chunked"); chunked != r.chunked || !chunked && again.ContentLength != r.length {
			t.Fatalf("%q becomes %q", head, out)
		}
		for _, h := range []string{"Proxy-Authorization", "Proxy-Connection", "Keep-Alive"} {
			if _, ok := again.Header[h]; ok {
				t.Fatalf("%q becomes %q", head, out)
			}
		}
	})
}

// FuzzChunks compares where we see the end of a chunked body with where net/http does, however the bytes are cut.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("5\r\nhello\r\n0\r\n\r\nGET /"), 3)
	f.Add([]byte("5;a=b\r\nhello\r\n000\r\nX: y\r\n\r\n"), 1)
	f.Add([]byte("1\nx\n0\n\n"), 2)
	f.Add([]byte("FFFFFFFFFFFFFFFF\r\n"), 7)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var c chunks
		used, done := 0, false
		for rest := data; len(rest) > 0 && !done; {
			piece := rest[:min(len(rest), max(1, cut%64))]
			n, d, bad := c.feed(piece)
			if bad != nil {
				return
			}
			if n != len(piece) && !d {
				t.Fatalf("%q: %d of %d bytes used without reason", data, n, len(piece))
			}
			used, done, rest = used+n, d, rest[len(piece):]
		}
		if !done {
			return
		}
		br := bufio.NewReader(bytes.NewReader(data))
		if _, err := io.ReadAll(httputil.NewChunkedReader(br)); err != nil {
			t.Fatalf("%q passes, net/http says %v", data[:used], err)
		}
		for line := "x"; line != "\r\n"; { // the trailers
			var err error
			if line, err = br.ReadString('\n'); err != nil {
				t.Fatalf("%q ends for us at %d, for net/http later", data, used)
			}
		}
		rest, _ := io.ReadAll(br)
		if len(data)-len(rest) != used {
			t.Fatalf("%q ends for us at %d, for net/http at %d", data, used, len(data)-len(rest))
		}
	})
}

// FuzzResponse holds that a response head of any origin is either refused or becomes one that net/http reads with the same framing.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		"HTTP/1.0 200\nX: a\n b\n\nrest",
		"HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade, y\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\nConnection: close\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		end := headEnd(data)
		if end == 0 {
			return
		}
		resp, err := parseResponse(data[:end])
		if err != nil {
			return
		}
		r := &request{method: "GET", minor: 1}
		fr := frame(r, resp)
		out := append(appendResponse(nil, r, resp, fr.drops), "\r\n"...)
		if bytes.Count(out, []byte("\r\n\r\n")) != 1 || !bytes.HasSuffix(out, []byte("\r\n\r\n")) {
			t.Fatalf("%q becomes %q", data[:end], out)
		}
		theirs, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(out)), &http.Request{Method: "GET"})
		if err != nil {
			return
		}
		if theirs.StatusCode != resp.status {
			t.Fatalf("%q becomes %q", data[:end], out)
		}
		switch chunked := slices.Contains(theirs.TransferEncoding, "chunked"); fr {
		case byChunks:
			if !chunked {
				t.Fatalf("%q is chunked for us alone", out)
			}
		case byLength:
			if chunked || theirs.ContentLength != resp.length {
				t.Fatalf("%q has %d bytes for us, %d for net/http", out, resp.length, theirs.ContentLength)
			}
		case untilClose:
			if chunked || theirs.ContentLength >= 0 {
				t.Fatalf("%q ends with the connection for us alone", out)
			}
		}
	})
}
