package httpproxy

import (
	"strings"

	"github.com/srt-dev/srt/proxyd/limits"
)

// chunks finds the end of a chunked body in passing, and refuses what two readers could read differently. The zero value is at the
// start of a body.
type chunks struct {
	lenient bool // a response: nobody is judged by it, so bare line feeds do no harm

	state chunkState
	left  int64  // bytes of the chunk's data that are still to come
	line  []byte // the size line or trailer line so far
	total int    // bytes of the trailer section
}

type chunkState uint8

const (
	chunkSize    chunkState = iota // in a size line
	chunkData                      // in the data
	chunkDataEnd                   // in the line end behind the data
	chunkTrailer                   // in the trailer section
	chunkDone
)

// feed goes over p and says how much of it belongs to the body; done when the body ends there.
func (c *chunks) feed(p []byte) (n int, done bool, bad *headError) {
	for n < len(p) {
		if c.state == chunkData {
			k := int(min(c.left, int64(len(p)-n)))
			n += k
			if c.left -= int64(k); c.left == 0 {
				c.state = chunkDataEnd
			}
			continue
		}
		b := p[n]
		n++
		c.line = append(c.line, b)
		if b != '\n' {
			if len(c.line) > limits.ChunkLine {
				return n, false, malformed("a chunk line of more than %d bytes", limits.ChunkLine)
			}
			continue
		}
		line, ok := strings.CutSuffix(string(c.line), "\r\n")
		if c.lenient {
			line = strings.TrimRight(line, "\r\n")
		} else if !ok || strings.ContainsAny(line, "\r\x00") {
			return n, false, malformed("a bare line end in a chunked body")
		}
		c.line = c.line[:0]
		if bad := c.lineEnd(line); bad != nil {
			return n, false, bad
		}
		if c.state == chunkDone {
			return n, true, nil
		}
	}
	return n, false, nil
}

func (c *chunks) lineEnd(line string) *headError {
	switch c.state {
	case chunkSize:
		size, _, _ := strings.Cut(line, ";")
		size = strings.TrimRight(size, " \t")
		if size == "" || len(size) > 15 || strings.Trim(size, "0123456789abcdefABCDEF") != "" {
			return malformed("a chunk size that is not a number")
		}
		for _, d := range []byte(strings.ToLower(size)) {
			c.left = c.left<<4 | int64(strings.IndexByte("0123456789abcdef", d))
		}
		c.state = chunkData
		if c.left == 0 {
			c.state = chunkTrailer
		}
	case chunkDataEnd:
		if line != "" {
			return malformed("a chunk that is longer than its size")
		}
		c.state = chunkSize
	case chunkTrailer:
		if c.total += len(line) + 2; c.total > limits.Trailers {
			return malformed("trailers of more than %d bytes", limits.Trailers)
		}
		if line == "" {
			c.state = chunkDone
			return nil
		}
		if !c.lenient {
			_, _, bad := headerLine([]byte(line))
			return bad
		}
	}
	return nil
}
