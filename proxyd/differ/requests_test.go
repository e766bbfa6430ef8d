package differ

import (
	"fmt"
	"strings"
)

// message is one request in two forms: as an origin gets it, and as a proxy gets it.
type message struct {
	name   string
	method string
	path   string // its first element chooses the origin's answer
	lines  string // header lines behind Host
	body   string
	minor  int
	// hostile marks what two readers could understand differently: proxyd must refuse it before anybody is asked.
	hostile bool
	// absolute replaces the whole absolute form, where that is what is hostile; %s is the origin.
	absolute string
}

func (m message) straight(origin string) string {
	return fmt.Sprintf("%s %s HTTP/1.%d\r\nHost: %s\r\n%sConnection: close\r\n\r\n%s", m.method, m.path, m.minor, origin, m.lines, m.body)
}

func (m message) proxied(origin string) string {
	target := "http://" + origin + m.path
	if m.absolute != "" {
		target = strings.ReplaceAll(m.absolute, "%s", origin)
	}
	return fmt.Sprintf("%s %s HTTP/1.%d\r\nHost: %s\r\n%sConnection: close\r\n\r\n%s", m.method, target, m.minor, origin, m.lines, m.body)
}

// answers are what the origin knows to say: first elements of paths.
var answers = []string{"length", "chunked", "trailers", "untilclose", "empty", "nocontent", "notmodified", "early", "odd", "long"}

type body struct{ name, lines, bytes string }

var bodies = []body{
	{"no body", "", ""},
	{"a length", "Content-Length: 11\r\n", "hello world"},
	{"a length of nothing", "Content-Length: 0\r\n", ""},
	{"bytes of every value", fmt.Sprintf("Content-Length: %d\r\n", len(everyByte)), everyByte},
	{"chunks", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"},
	{"chunks with extensions and trailers", "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n", "A;name=\"v\"\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"},
}

var everyByte = func() string {
	b := make([]byte, 0, 3*256)
	for i := range 3 * 256 {
		b = append(b, byte(i))
	}
	return string(b)
}()

var headers = map[string]string{
	"order and spelling":      "zEbra: 1\r\nAlpha:2\r\nX-UPPER:   3   \r\nmiddle:\t4\r\n",
	"repeated":                "X-A: 1\r\nX-B: 2\r\nX-A: 3\r\n",
	"an empty value":          "X-Empty:\r\nX-Next: 1\r\n",
	"bytes above ASCII":       "X-Name: gr\xc3\xbc\xdf\xff\r\n",
	"cookies":                 "Cookie: a=b; c=\"d e\"\r\nCookie: f=g\r\n",
	"a long value":            "X-Long: " + strings.Repeat("v", 6000) + "\r\n",
	"many":                    strings.Repeat("X-Many: 1\r\n", 90),
	"encodings":               "Accept-Encoding: gzip, br\r\nContent-Encoding: gzip\r\nAccept: */*;q=0.1\r\n",
	"authorization":           "Authorization: Basic dTpw\r\nWWW-Authenticate: x\r\n",
	"ranges and conditions":   "Range: bytes=0-4\r\nIf-None-Match: \"e\"\r\nIf-Modified-Since: Mon, 30 Nov 2026 00:00:00 GMT\r\n",
	"a forwarding trail":      "Via: 1.1 other\r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for=10.0.0.1\r\n",
	"every token character":   "!#$%&'*+-.^_`|~09azAZ: 1\r\n",
	"names like framing ones": "Content-Lengths: 5\r\nTransfer_Encoding: chunked\r\nX-Host: h\r\n",
}

var paths = []string{
	"/length", "/length?", "/length?a=b&c=%20d", "/length/../x", "/length/./y", "/length//double", "/length/%2e%2e/z", "/length/%00", "/length/a;b,c=d", "/length/%C3%BC",
	"/length/{curly}|pipe^", "/length?http://elsewhere.example/", "/length/" + strings.Repeat("p", 3000), "/length?" + strings.Repeat("q=1&", 700), "/length/@:80",
}

// messages are the requests of the test, always the same.
func messages() []message {
	var all []message
	add := func(m message) { all = append(all, m) }
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"} {
		for _, b := range bodies {
			for _, a := range answers {
				if method == "HEAD" && b.bytes != "" {
					continue // nobody agrees about it
				}
				add(message{name: method + ", " + b.name + ", " + a, method: method, path: "/" + a, lines: b.lines, body: b.bytes, minor: 1})
			}
		}
	}
	for name, lines := range headers {
		for _, method := range []string{"GET", "POST"} {
			m := message{name: method + " with " + name, method: method, path: "/length", lines: lines, minor: 1}
			if method == "POST" {
				m.lines, m.body = m.lines+"Content-Length: 3\r\n", "abc"
			}
			add(m)
		}
	}
	for _, p := range paths {
		add(message{name: fmt.Sprintf("the path %.40q", p), method: "GET", path: p, minor: 1})
	}
	for _, a := range answers {
		add(message{name: "HTTP/1.0, " + a, method: "GET", path: "/" + a, minor: 0})
	}
	for _, m := range hostile() {
		m.hostile = true
		add(m)
	}
	return all
}

func hostile() []message {
	var all []message
	for name, lines := range map[string]string{
		"two lengths":                         "Content-Length: 3\r\nContent-Length: 4\r\n",
		"two equal lengths":                   "Content-Length: 3\r\nContent-Length: 3\r\n",
		"a list of lengths":                   "Content-Length: 3, 3\r\n",
		"a signed length":                     "Content-Length: +3\r\n",
		"a negative length":                   "Content-Length: -3\r\n",
		"a hexadecimal length":                "Content-Length: 0x3\r\n",
		"a length that overflows":             "Content-Length: 18446744073709551619\r\n",
		"an empty length":                     "Content-Length:\r\n",
		"a length and a coding":               "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
		"a coding and a length":               "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
		"two codings":                         "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
		"a list of codings":                   "Transfer-Encoding: gzip, chunked\r\n",
		"an unknown coding":                   "Transfer-Encoding: xchunked\r\n",
		"a coding with a parameter":           "Transfer-Encoding: chunked;q=1\r\n",
		"a coding in quotes":                  "Transfer-Encoding: \"chunked\"\r\n",
		"a coding behind a vertical tab":      "Transfer-Encoding: \vchunked\r\n",
		"identity":                            "Transfer-Encoding: identity\r\nContent-Length: 3\r\n",
		"a space before the colon":            "Transfer-Encoding : chunked\r\n",
		"a tab before the colon":              "Content-Length\t: 3\r\n",
		"a folded line":                       "X-A: b\r\n Transfer-Encoding: chunked\r\n",
		"a fold at the start":                 " X-A: b\r\n",
		"a line feed alone":                   "X-A: b\nTransfer-Encoding: chunked\r\n",
		"a carriage return alone":             "X-A: b\rTransfer-Encoding: chunked\r\n",
		"a NUL in a value":                    "X-A: b\x00c\r\n",
		"a NUL in a name":                     "X\x00A: b\r\n",
		"no colon":                            "Transfer-Encoding chunked\r\n",
		"an empty name":                       ": chunked\r\n",
		"a name with a space":                 "X A: b\r\n",
		"a name above ASCII":                  "X-\xc3\xbc: b\r\n",
		"a second Host":                       "Host: elsewhere.example\r\n",
		"too many header lines":               strings.Repeat("X: 1\r\n", 300),
		"a head without end in sight":         "X-Long: " + strings.Repeat("v", 80<<10) + "\r\n",
		"a control character":                 "X-A: \x1b[31m\r\n",
		"a coding that Connection names away": "Connection: transfer-encoding\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n",
	} {
		for _, method := range []string{"GET", "POST"} {
			all = append(all, message{name: method + " with " + name, method: method, path: "/length", lines: lines, body: "abc", minor: 1})
		}
	}
	for name, target := range map[string]string{
		"user information":             "http://user@%s/length",
		"user information that judges": "http://allowed.example:80@%s/length",
		"a fragment":                   "http://%s/length#x",
		"a fragment in the authority":  "http://%s#@elsewhere.example/",
		"a backslash":                  "http://%s\\@elsewhere.example/",
		"a tab":                        "http://%s/len\tgth",
		"another scheme":               "ftp://%s/length",
		"no scheme":                    "//%s/length",
		"no host":                      "http:///length",
		"a port of zero":               "http://127.0.0.1:0/length",
		"a port that overflows":        "http://127.0.0.1:65616/length",
		"a signed port":                "http://127.0.0.1:+80/length",
		"an escaped dot":               "http://127%2e0.0.1/length",
		"an escaped NUL":               "http://%s%00/length",
		"a zone":                       "http://[::1%25lo]/length",
		"a full-width dot":             "http://127\uff0e0\uff0e0\uff0e1@/length",
		"a bracket without end":        "http://[::1/length",
		"a version of its own":         "http://%s/length HTTP/1.1 x",
	} {
		all = append(all, message{name: "a target with " + name, method: "GET", path: "/length", absolute: target, minor: 1})
	}
	all = append(all,
		message{name: "a body in HTTP/1.0 chunks", method: "POST", path: "/length", lines: "Transfer-Encoding: chunked\r\n", body: "0\r\n\r\n", minor: 0},
		message{name: "another version", method: "GET", path: "/length", minor: 2},
		message{name: "a method that is no token", method: "GE(T", path: "/length", minor: 1})
	return all
}
