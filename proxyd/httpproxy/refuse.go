package httpproxy

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/gate"
	"github.com/srt-dev/srt/proxyd/limits"
	"github.com/srt-dev/srt/proxyd/relay"
)

// Values of X-Proxy-Error beside those of package egress.
const (
	codeBlocked   = "blocked-by-sandbox-runtime" // the policy says no; nothing else has this value
	codeMalformed = "malformed-request"
	codeNotProxy  = "not-a-proxy-request"
	codeStranger  = "token-required"
)

// strangerReply answers who does not show the command's token. Some clients ask without it first, so it is no violation.
var strangerReply = reply{status: http.StatusProxyAuthRequired, code: codeStranger,
	body: "srt serves the sandboxed command only: use the proxy URL of HTTPS_PROXY whole, with its user name and password\n"}

// blockedLine is the first line of the body when no list allows the destination; tools look for it.
const blockedLine = "Connection blocked by network allowlist"

// reply is an answer of proxyd itself.
type reply struct {
	status int
	phrase string // of the status line, where the client shows it (CONNECT); "" for the usual one
	code   string // X-Proxy-Error
	body   string
}

// replyFor turns an error of the gate into an answer.
func replyFor(err error, dest string) reply {
	if d, ok := errors.AsType[*gate.Denial](err); ok {
		r := reply{status: http.StatusForbidden, phrase: oneLine(d.Reason), code: codeBlocked,
			body: fmt.Sprintf("srt refused %s: %s\n", dest, readable(d.Reason))}
		if d.Miss {
			r.phrase = blockedLine
			r.body = blockedLine + "\n" + dest + " is " + d.Reason + " (network.allowedDomains)\n"
		}
		return r
	}
	f, ok := errors.AsType[*egress.Failure](err) // before what it wraps: a head of the origin that is no good is not the client's fault
	if bad, isBad := errors.AsType[*headError](err); isBad && !ok {
		return reply{status: bad.Status, code: bad.Code, body: "srt refused the request: " + bad.Detail + "\n"}
	}
	if !ok {
		f = &egress.Failure{Err: err}
	}
	return reply{status: f.Status(), phrase: f.Text(), code: f.Code(), body: fmt.Sprintf("srt could not connect to %s: %s\n", dest, f.Text())}
}

// append appends r as an HTTP response; phrase "" is the usual one of the status.
func (r reply) append(b []byte, phrase string, minor int, keepAlive bool) []byte {
	if phrase == "" {
		phrase = http.StatusText(r.status)
	}
	connection := "close"
	if keepAlive {
		connection = "keep-alive"
	}
	challenge := ""
	if r.status == http.StatusProxyAuthRequired {
		challenge = "Proxy-Authenticate: Basic realm=\"srt\"\r\n"
	}
	return fmt.Appendf(b, "HTTP/1.%d %d %s\r\n%sContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
		"X-Proxy-Error: %s\r\nConnection: %s\r\n\r\n%s", minor, r.status, phrase, challenge, len(r.body), r.code, connection, r.body)
}

// hangUp sends r, with its phrase, as the last words on c.
func (r reply) hangUp(c relay.Conn) {
	c.SetWriteDeadline(time.Now().Add(limits.Handshake))
	c.Write(r.append(nil, r.phrase, 1, false))
	relay.Linger(c)
}

// headTarget finds the request target in a head that is refused, for the report.
func headTarget(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	parts := bytes.Fields(line)
	if len(parts) < 2 {
		return "unreadable request"
	}
	return quoteTarget(string(parts[1]))
}

// quoteTarget makes a short printable text of what a client sent instead of a destination; queries and user information stay out.
func quoteTarget(s string) string {
	s, _, _ = strings.Cut(s, "?")
	start := strings.Index(s, "://") + len("://")
	if start < len("://") {
		start = 0
	}
	authority, path, _ := strings.Cut(s[start:], "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		s = s[:start] + authority[i+1:]
		if path != "" {
			s += "/" + path
		}
	}
	s = s[:min(len(s), 200)]
	q := strconv.QuoteToASCII(s)
	return q[1 : len(q)-1]
}

// readable makes a line of a body of a reason: what can be printed, bounded.
func readable(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
	for n := range s {
		if n > limits.Reason {
			return s[:n]
		}
	}
	return s
}

// oneLine makes a status phrase of a reason: printable ASCII, bounded.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), limits.Reason)]
}
