package httpproxy

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"github.com/srt-dev/srt/proxyd/limits"
)

// response is one head of a response.
type response struct {
	status int
	phrase []byte // what follows "HTTP/1.x " in the status line: code and reason
	lines  []byte // the header lines, each with CRLF, folded ones joined

	length  int64 // of the body, -1 when it is not given
	chunked bool
	close   bool // the origin will not go on
	upgrade []byte
	named   []string
}

// readResponse reads the next response head of s. It is more lenient than parseRequest, because nobody is judged by it and its connection
// serves nobody else: bare line feeds and folded lines are put right. The result is valid until s is read again.
func readResponse(s *stream) (*response, error) {
	for {
		if end := headEnd(s.buffered()); end > 0 {
			r, err := parseResponse(s.buffered()[:end])
			s.skip(end)
			return r, err
		}
		if len(s.buffered()) >= limits.ResponseHead {
			return nil, fmt.Errorf("a response head of more than %d bytes", limits.ResponseHead)
		}
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
}

// headEnd gives the length of a head up to and including its empty line, 0 when it is not all there.
func headEnd(b []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return 0
		}
		at += i + 1
		switch rest := b[at:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return at + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return at + 2
		}
	}
}

func parseResponse(head []byte) (*response, error) {
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	version, phrase, _ := bytes.Cut(line, []byte(" "))
	if len(version) != 8 || !bytes.HasPrefix(version, []byte("HTTP/1.")) || len(phrase) < 3 || !isDigits(phrase[:3]) || phrase[0] == '0' ||
		len(phrase) > 3 && phrase[3] != ' ' {
		return nil, errors.New("not the status line of an HTTP/1 response")
	}
	r := &response{status: int(phrase[0]-'0')*100 + int(phrase[1]-'0')*10 + int(phrase[2]-'0'), phrase: phrase, length: -1}
	r.close = version[7] == '0'
	rest, bad := unfold(rest)
	if bad != nil {
		return nil, bad
	}
	r.lines = rest
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, bad := headerLine(line)
		if bad != nil {
			return nil, bad
		}
		if err := r.header(name, value); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// header takes notice of one header.
func (r *response) header(name, value []byte) error {
	switch {
	case is(name, "content-length"):
		n, ok := parseLength(value)
		if !ok || r.length >= 0 && n != r.length {
			return errors.New("a Content-Length that is not one number")
		}
		r.length = n
	case is(name, "transfer-encoding"):
		if !is(value, "chunked") || r.chunked {
			return errors.New("a transfer coding other than chunked")
		}
		r.chunked = true
	case is(name, "connection"):
		for token := range bytes.SplitSeq(value, []byte(",")) {
			switch token = bytes.TrimSpace(token); {
			case is(token, "close"):
				r.close = true
			case is(token, "keep-alive"):
				r.close = false
			default:
				r.named = named(r.named, token)
			}
		}
	case is(name, "upgrade"):
		r.upgrade = value
	}
	return nil
}

// unfold gives lines with CRLF ends and without folds; the empty line at the end is dropped. It copies only when something is to be put
// right.
func unfold(lines []byte) ([]byte, error) {
	if !bytes.Contains(lines, []byte("\n ")) && !bytes.Contains(lines, []byte("\n\t")) && bytes.Count(lines, []byte("\n")) == bytes.Count(lines, []byte("\r\n")) {
		return bytes.TrimSuffix(lines, []byte("\r\n")), nil
	}
	var out []byte
	for line := range bytes.Lines(lines) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0:
		case line[0] != ' ' && line[0] != '\t':
			out = append(append(out, line...), "\r\n"...)
		case len(out) == 0:
			return nil, errors.New("a folded line that continues nothing")
		default:
			out = append(append(append(out[:len(out)-2], ' '), bytes.TrimLeft(line, " \t")...), "\r\n"...)
		}
	}
	return out, nil
}

// bodiless says whether the response to method has no body, whatever its headers say (RFC 9112, 6.3).
func (r *response) bodiless(method string) bool {
	return method == http.MethodHead || r.status < 200 || r.status == http.StatusNoContent || r.status == http.StatusNotModified
}
