package httpproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/proxyd/proxytest"
)

// TestWhatTheOriginSees shows requests as they leave proxyd, byte for byte.
func TestWhatTheOriginSees(t *testing.T) {
	saw := make(chan string, 1)
	origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		head, err := readHead(r)
		if err != nil {
			return
		}
		var body []byte
		if strings.Contains(head, "Content-Length: 2\r\n") {
			body = make([]byte, 2)
			io.ReadFull(r, body)
		}
		saw <- head + string(body)
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	})
	_, port, _ := net.SplitHostPort(origin)
	for name, c := range map[string]struct{ request, want string }{
		"names, spelling and order stay": {
			"GET http://@/ HTTP/1.1\r\nz-last: 1\r\nhOST: x\r\nX_under: a  b \r\na-first:\ttab\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\nz-last: 1\r\nX_under: a  b \r\na-first:\ttab\r\n\r\n"},
		"Connection: close is for us": {
			"GET http://@/ HTTP/1.1\r\nHost: x\r\nConnection: close, X-Hop\r\nx-hop: 1\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\n\r\n"},
		"a plain GET": {
			"GET http://@/p?q=1&r HTTP/1.1\r\nHost: other.example\r\nAccept: */*\r\nUser-Agent: curl\r\n\r\n",
			"GET /p?q=1&r HTTP/1.1\r\nHost: @\r\nAccept: */*\r\nUser-Agent: curl\r\n\r\n"},
		"nothing is added": {
			"GET http://@ HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\n\r\n"},
		"a query without path": {
			"GET http://@?a=b HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET /?a=b HTTP/1.1\r\nHost: @\r\n\r\n"},
		"a path that net/url would change or refuse": {
			"GET http://@/a%2Fb/../100%/\"ü|%zz?%x& HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET /a%2Fb/../100%/\"ü|%zz?%x& HTTP/1.1\r\nHost: @\r\n\r\n"},
		"OPTIONS of the server": {
			"OPTIONS http://@ HTTP/1.1\r\nHost: x\r\n\r\n",
			"OPTIONS * HTTP/1.1\r\nHost: @\r\n\r\n"},
		"an unusual method": {
			"PROPFIND http://@/ HTTP/1.1\r\nHost: x\r\n\r\n",
			"PROPFIND / HTTP/1.1\r\nHost: @\r\n\r\n"},
		"a method in lower case": {
			"get http://@/ HTTP/1.1\r\nHost: x\r\n\r\n",
			"get / HTTP/1.1\r\nHost: @\r\n\r\n"},
		"hop-by-hop headers stay here": {
			"GET http://@/ HTTP/1.1\r\nHost: x\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic c2VjcmV0\r\nConnection: keep-alive, X-Hop\r\n" +
				"Keep-Alive: 5\r\nX-Hop: 1\r\nTe: gzip\r\nUpgrade: h2c\r\nX-Stays: 1\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\nX-Stays: 1\r\n\r\n"},
		"Connection cannot name Host or the length away": {
			"POST http://@/ HTTP/1.1\r\nHost: x\r\nConnection: Host, Content-Length\r\nContent-Length: 2\r\n\r\nab",
			"POST / HTTP/1.1\r\nHost: @\r\nContent-Length: 2\r\n\r\nab"},
		"HTTP/2 in clear text is not passed on": {
			"GET http://@/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\n\r\n"},
		"credentials for the origin go to the origin": {
			"GET http://@/ HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YTpi\r\nCookie: a=b\r\nAccept-Encoding: br\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\nAuthorization: Basic YTpi\r\nCookie: a=b\r\nAccept-Encoding: br\r\n\r\n"},
		"trailers may be asked for": {
			"GET http://@/ HTTP/1.1\r\nHost: x\r\nTE: trailers, deflate\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\nConnection: TE\r\nTE: trailers\r\n\r\n"},
		"HTTP/1.0": {
			"GET http://@/ HTTP/1.0\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\n\r\n"},
		"an empty POST": {
			"POST http://@/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
			"POST / HTTP/1.1\r\nHost: @\r\nContent-Length: 0\r\n\r\n"},
		"a name in another spelling": {
			"GET http://A.LocalHost.:PORT/ HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: a.localhost:PORT\r\n\r\n"},
		"an address in another spelling": {
			"GET http://0x7f.1:PORT/ HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\n\r\n"},
		"an empty line before the request": {
			"\r\nGET http://@/ HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: @\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := proxytest.Start(t, allow("127.0.0.1", "a.localhost"))
			fill := strings.NewReplacer("@", origin, "PORT", port)
			resp, _ := ask(t, p, fill.Replace(c.request))
			if resp.StatusCode != 200 {
				t.Fatalf("status %d, %v", resp.StatusCode, resp.Header)
			}
			if got, want := <-saw, fill.Replace(c.want); got != want {
				t.Errorf("the origin saw\n%q\nwant\n%q", got, want)
			}
		})
	}
}

// TestWhatTheClientSees shows responses as they reach the client, byte for byte.
func TestWhatTheClientSees(t *testing.T) {
	for name, c := range map[string]struct{ request, response, want string }{
		"nothing is added": {
			"GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
			"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
		"repeated headers stay apart": {
			"GET", "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nEtag: \"e\"\r\nContent-Length: 0\r\n\r\n",
			"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nEtag: \"e\"\r\nContent-Length: 0\r\n\r\n"},
		"hop-by-hop headers stay there": {
			"GET", "HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 3\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		"HEAD keeps the length": {
			"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n"},
		"204": {"GET", "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n", "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n"},
		"304": {"GET", "HTTP/1.1 304 Not Modified\r\nEtag: \"e\"\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nEtag: \"e\"\r\n\r\n"},
		"an error of the origin is the origin's": {
			"GET", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\nRetry-After: 1\r\n\r\nbusy",
			"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\nRetry-After: 1\r\n\r\nbusy"},
		"a chunked body": {
			"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"},
		"announced trailers": {
			"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n"},
		"trailers that were not announced": {
			"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n"},
		"the reason is the origin's": {
			"GET", "HTTP/1.1 299 Nearly Fine\r\ncontent-LENGTH: 0\r\nx_y: 1\r\n\r\n", "HTTP/1.1 299 Nearly Fine\r\ncontent-LENGTH: 0\r\nx_y: 1\r\n\r\n"},
		"folded lines and bare line feeds are put right": {
			"GET", "HTTP/1.1 200 OK\nX: a\n\t b\nContent-Length: 2\n\nhi", "HTTP/1.1 200 OK\r\nX: a b\r\nContent-Length: 2\r\n\r\nhi"},
		"chunks as they are": {
			"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n02;x=y\r\nhi\r\n000\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n02;x=y\r\nhi\r\n000\r\n\r\n"},
		"an informational answer first": {
			"GET", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
			"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
		"a compressed body is left alone": {
			"GET", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x00",
			"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x00"},
		"a type and a date of the origin": {
			"GET", "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: x/y\r\nServer: s\r\nContent-Length: 0\r\n\r\n",
			"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: x/y\r\nServer: s\r\nContent-Length: 0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			origin := rawOrigin(t, func(conn net.Conn, r *bufio.Reader) {
				if _, err := readHead(r); err == nil {
					io.WriteString(conn, c.response)
				}
				io.Copy(io.Discard, r)
			})
			p := proxytest.Start(t, allow(origin))
			conn := dial(t, p.Addr)
			conn.send("%s http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", c.request, origin)
			got := make([]byte, len(c.want))
			n, err := io.ReadFull(conn, got)
			if string(got[:n]) != c.want {
				t.Errorf("the client saw\n%q (%v)\nwant\n%q", got[:n], err, c.want)
			}
			conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			if more, err := conn.ReadByte(); err == nil {
				t.Errorf("and then %q", more)
			}
		})
	}
}
