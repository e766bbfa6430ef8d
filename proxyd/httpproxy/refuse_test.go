package httpproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/proxytest"
)

func TestRefusals(t *testing.T) {
	origin := httpOrigin(t, func(http.ResponseWriter, *http.Request) { t.Error("a refused request reached the origin") })
	_, port, _ := net.SplitHostPort(origin)
	for name, c := range map[string]struct {
		cfg                         wire.ProxyConfig
		dest, phrase, body          string
		target, reason, rule, proxy string
	}{
		"no list allows it": {
			cfg: allow("other.example"), dest: "blocked.example:80",
			phrase: "Connection blocked by network allowlist",
			body:   "Connection blocked by network allowlist\nblocked.example:80 is not on the allow list (network.allowedDomains)\n",
			reason: "not on the allow list",
		},
		"another port": {
			cfg: allow("blocked.example:443"), dest: "blocked.example:80",
			phrase: "Connection blocked by network allowlist",
			body:   "Connection blocked by network allowlist\nblocked.example:80 is not on the allow list (network.allowedDomains)\n",
			reason: "not on the allow list",
		},
		"the deny list has it": {
			cfg: wire.ProxyConfig{AllowedDomains: []string{"*.example.com"}, DeniedDomains: []string{"deny.example.com"}}, dest: "deny.example.com:80",
			phrase: "on the deny list", body: "srt refused deny.example.com:80: on the deny list\n",
			reason: "on the deny list", rule: "deny.example.com",
		},
		"the deny list gives a reason": {
			cfg:  wire.ProxyConfig{DeniedDomains: []string{"deny.example.com"}, DeniedDomainReasons: map[string]string{"deny.example.com": "Use mirror.example.net instead"}},
			dest: "deny.example.com:80", phrase: "Use mirror.example.net instead", body: "srt refused deny.example.com:80: Use mirror.example.net instead\n",
			reason: "Use mirror.example.net instead", rule: "deny.example.com",
		},
		"a reason cannot break the status line": {
			cfg:  wire.ProxyConfig{DeniedDomains: []string{"a.b"}, DeniedDomainReasons: map[string]string{"a.b": "no\r\nX: y\x07 ünd"}},
			dest: "a.b:80", phrase: "no  X: y? ?nd", body: "srt refused a.b:80: no  X: y? ünd\n",
			reason: "no\r\nX: y\x07 ünd", rule: "a.b",
		},
		"a denied address by its name": {
			cfg:  wire.ProxyConfig{AllowedDomains: []string{"a.localhost", "127.0.0.1", "[::1]"}, DeniedDomains: []string{"127.0.0.1", "[::1]"}},
			dest: "a.localhost:" + port, phrase: "resolved to a deny-listed address", body: "srt refused a.localhost:" + port + ": resolved to a deny-listed address\n",
			reason: "resolved to a deny-listed address",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, method := range []string{"GET", "CONNECT"} {
				p := proxytest.Start(t, c.cfg)
				uri := "http://" + c.dest + "/path?secret"
				if method == "CONNECT" {
					uri = c.dest
				}
				resp, body := ask(t, p, method+" "+uri+" HTTP/1.1\r\nHost: whatever\r\n\r\n")
				if resp.StatusCode != 403 || resp.Header.Get("X-Proxy-Error") != "blocked-by-sandbox-runtime" || body != c.body {
					t.Errorf("%s: %d %v %q", method, resp.StatusCode, resp.Header, body)
				}
				if phrase := strings.TrimPrefix(resp.Status, "403 "); method == "CONNECT" && phrase != c.phrase {
					t.Errorf("the status phrase is %q, want %q", phrase, c.phrase)
				}
				p.Violation(t, c.dest, c.reason)
				if e := p.Events(wire.EventViolation); len(e) != 1 || e[0].Violation.Rule != c.rule || e[0].Violation.CommandID != "cmd" {
					t.Errorf("%s: violations %+v", method, e[0].Violation)
				}
			}
		})
	}
}

// TestMalformed shows that what two readers could read differently is refused before anything is judged or dialled.
func TestMalformed(t *testing.T) {
	origin := httpOrigin(t, func(w http.ResponseWriter, r *http.Request) { t.Errorf("%s %s reached the origin", r.Method, r.URL) })
	p := proxytest.Start(t, allow("127.0.0.1", "*.zone.example", "a.localhost"))
	const host = "\r\nHost: a\r\n\r\n"
	for name, c := range map[string]struct {
		raw    string
		status int
	}{
		"user information":               {"GET http://a.zone.example@" + origin + "/ HTTP/1.1" + host, 400},
		"user information with a port":   {"GET http://a.zone.example:80@" + origin + "/ HTTP/1.1" + host, 400},
		"a fragment":                     {"GET http://" + origin + "/#@a.zone.example/ HTTP/1.1" + host, 400},
		"a backslash":                    {"GET http://" + origin + "\\@a.zone.example/ HTTP/1.1" + host, 400},
		"an escaped at sign":             {"GET http://ok.zone.example%40" + origin + "/ HTTP/1.1" + host, 400},
		"an escaped slash":               {"GET http://evil.example%2f.zone.example/ HTTP/1.1" + host, 400},
		"NUL in the host":                {"GET http://evil.example\x00.zone.example/ HTTP/1.1" + host, 400},
		"an escaped NUL":                 {"GET http://evil.example%00.zone.example/ HTTP/1.1" + host, 400},
		"a zone":                         {"GET http://[::ffff:127.0.0.1%25.zone.example]/ HTTP/1.1" + host, 400},
		"an empty host":                  {"GET http:///x HTTP/1.1" + host, 400},
		"a port with a leading zero":     {"GET http://127.0.0.1:080/ HTTP/1.1" + host, 400},
		"a port that overflows":          {"GET http://127.0.0.1:73616/ HTTP/1.1" + host, 400},
		"origin form":                    {"GET / HTTP/1.1\r\nHost: " + origin + "\r\n\r\n", 400},
		"two slashes":                    {"GET //" + origin + "/ HTTP/1.1" + host, 400},
		"https in absolute form":         {"GET https://" + origin + "/ HTTP/1.1" + host, 400},
		"ws in absolute form":            {"GET ws://" + origin + "/ HTTP/1.1" + host, 400},
		"CONNECT with user information":  {"CONNECT a.zone.example:80@" + origin + " HTTP/1.1" + host, 400},
		"CONNECT with a path":            {"CONNECT " + origin + "/.zone.example:80 HTTP/1.1" + host, 400},
		"CONNECT with a query":           {"CONNECT " + origin + "?.zone.example:80 HTTP/1.1" + host, 400},
		"CONNECT without port":           {"CONNECT 127.0.0.1 HTTP/1.1" + host, 400},
		"CONNECT with a URL":             {"CONNECT http://" + origin + "/ HTTP/1.1" + host, 400},
		"CONNECT with NUL":               {"CONNECT evil.example:80\x00.zone.example:80 HTTP/1.1" + host, 400},
		"CONNECT with a space":           {"CONNECT evil.example:80 .zone.example:80 HTTP/1.1" + host, 400},
		"CONNECT with a tab":             {"CONNECT evil.example\t.zone.example:80 HTTP/1.1" + host, 400},
		"CONNECT with a body":            {"CONNECT " + origin + " HTTP/1.1\r\nContent-Length: 5\r\nHost: a\r\n\r\nhello", 400},
		"connect in lower case":          {"connect " + origin + " HTTP/1.1" + host, 400},
		"length beside coding":           {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"coding beside length":           {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 400},
		"two lengths":                    {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde", 400},
		"two equal lengths":              {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", 400},
		"a list of lengths":              {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\nabcd", 400},
		"a signed length":                {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\nabcd", 400},
		"an empty length":                {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400},
		"an unknown coding":              {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
		"a disguised coding":             {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400},
		"two codings":                    {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"a coding in HTTP/1.0":           {"POST http://" + origin + "/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"a space before the colon":       {"POST http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
		"a folded line":                  {"GET http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n", 400},
		"a bare line feed":               {"GET http://" + origin + "/ HTTP/1.1\nHost: a\n\n", 400},
		"a bare line feed inside":        {"GET http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nX: y\nTransfer-Encoding: chunked\r\n\r\n", 400},
		"a bare carriage return":         {"GET http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nX: y\rZ: 1\r\n\r\n", 400},
		"NUL in a header":                {"GET http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nX: y\x00z\r\n\r\n", 400},
		"no Host":                        {"GET http://" + origin + "/ HTTP/1.1\r\n\r\n", 400},
		"two Hosts":                      {"GET http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
		"another version":                {"GET http://" + origin + "/ HTTP/1.2" + host, 400},
		"HTTP/2 in clear text":           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
		"two spaces in the request line": {"GET  http://" + origin + "/ HTTP/1.1" + host, 400},
		"a header line without a colon":  {"GET http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nrubbish\r\n\r\n", 400},
		"no request at all":              {"\x16\x03\x01\x00\x05hello\r\n\r\n", 400},
		"a head without end":             {"GET http://" + origin + "/ HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("y", 70_000), 431},
		"a thousand header lines":        {"GET http://" + origin + "/ HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 1000) + "\r\n", 431},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(p.Events(wire.EventViolation))
			resp, body := ask(t, p, c.raw)
			if resp.StatusCode != c.status || resp.Header.Get("X-Proxy-Error") == "" || resp.Header.Get("X-Proxy-Error") == "blocked-by-sandbox-runtime" {
				t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
			}
			v := p.Wait(t, wire.EventViolation, before+1)
			if len(v) != before+1 || v[before].Violation.Target == "" || strings.ContainsAny(v[before].Violation.Target, "\x00\r\n") {
				t.Errorf("%d violations; the last is %+v", len(v)-before, v[len(v)-1].Violation)
			}
		})
	}
}

// TestPasswordsInTargetsStayOut: a client may put one where a destination belongs; it is refused, and nobody else is told.
func TestPasswordsInTargetsStayOut(t *testing.T) {
	for uri, want := range map[string]string{
		"GET http://u:SECRET@a.example:8080/p/q?SECRET": "http://a.example:8080/p/q",
		"GET http://u:SECRET@a.example":                 "http://a.example",
		"GET http://u:SECRET@a.example/p@q":             "http://a.example/p@q",
		"CONNECT u:SECRET@a.example:443":                "a.example:443",
	} {
		p := proxytest.Start(t, allow("a.example"))
		resp, body := ask(t, p, uri+" HTTP/1.1\r\nHost: x\r\n\r\n")
		if resp.StatusCode != 400 || !strings.Contains(body, "user information is not part of a destination") || strings.Contains(body, "SECRET") {
			t.Errorf("%s: %d %q", uri, resp.StatusCode, body)
		}
		if v := p.Wait(t, wire.EventViolation, 1)[0].Violation; v.Target != want {
			t.Errorf("%s is reported as %q, want %q", uri, v.Target, want)
		}
	}
}

// TestMalformedBodies shows that a body that breaks its framing ends the request, and that nothing behind it is taken for another one.
func TestMalformedBodies(t *testing.T) {
	heads := make(chan string, 100)
	origin := rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
		for {
			head, err := readHead(r)
			if err != nil {
				return
			}
			heads <- head
			_, err = io.ReadAll(httputil.NewChunkedReader(r))
			if _, err2 := readHead(r); err == nil && err2 == nil { // the trailers
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}
	})
	const smuggled = "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"
	for name, body := range map[string]string{
		"a size that is no number":    "-1\r\n" + smuggled,
		"a size that overflows":       "FFFFFFFFFFFFFFFFF\r\n" + smuggled,
		"an empty size":               "\r\n" + smuggled,
		"a chunk longer than said":    "1\r\nabc\r\n0\r\n\r\n" + smuggled,
		"bare line feeds":             "1\na\n0\n\n" + smuggled,
		"a trailer with a bare CR":    "0\r\nX: y\rz\r\n\r\n" + smuggled,
		"a trailer without a colon":   "0\r\nrubbish\r\n\r\n" + smuggled,
		"an endless size line":        "1;" + strings.Repeat("x", 10_000) + smuggled,
		"endless trailers":            "0\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 30) + smuggled,
		"a NUL in a size line":        "1;\x00\r\na\r\n0\r\n\r\n" + smuggled,
		"a chunk size with a leading": " 1\r\na\r\n0\r\n\r\n" + smuggled,
	} {
		t.Run(name, func(t *testing.T) {
			p := proxytest.Start(t, allow(origin))
			c := dial(t, p.Addr)
			c.send("POST http://%s/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%s", origin, body)
			if resp, body := c.response("POST"); resp.StatusCode != 400 || resp.Header.Get("X-Proxy-Error") != "malformed-request" {
				t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
			}
			c.atEnd()
			if v := p.Wait(t, wire.EventViolation, 1); len(v) != 1 || v[0].Violation.Target == "evil.example:80" {
				t.Errorf("violations %+v", v[0].Violation)
			}
		})
	}
	for len(heads) > 0 {
		if head := <-heads; !strings.HasPrefix(head, "POST / HTTP/1.1\r\n") {
			t.Errorf("the origin saw %q", head)
		}
	}
}
