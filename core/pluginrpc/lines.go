package pluginrpc

import (
	"bytes"
	"io"
	"log/slog"
)

// maxLogLine bounds a line of a peer's stderr.
const maxLogLine = 4096

// lines hands what a peer writes to stderr on to a log, line by line. It is written to by one goroutine.
type lines struct {
	log  *slog.Logger
	peer string
	rest []byte
}

// newLines gives a writer for log; nil drops everything.
func newLines(log *slog.Logger, peer string) io.Writer {
	if log == nil {
		return nil
	}
	return &lines{log: log, peer: peer}
}

func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	for {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if room := maxLogLine - len(l.rest); len(line) > room {
			line = line[:room]
		}
		l.rest = append(l.rest, line...)
		if !whole {
			return n, nil
		}
		if len(l.rest) > 0 {
			l.log.Warn(string(l.rest), "from", l.peer)
		}
		l.rest, b = l.rest[:0], rest
	}
}
