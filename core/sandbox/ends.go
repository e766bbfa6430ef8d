package sandbox

import "strconv"

// keep is how much of each end of stderr an ExitError holds.
const keep = 32 << 10

// ends keeps the beginning and the end of what is written to it.
type ends struct {
	first, last []byte
	skipped     int
}

func (e *ends) Write(b []byte) (int, error) {
	n := len(b)
	if room := keep - len(e.first); room > 0 {
		room = min(room, len(b))
		e.first = append(e.first, b[:room]...)
		b = b[room:]
	}
	e.last = append(e.last, b...)
	if over := len(e.last) - keep; over > 0 {
		e.skipped += over
		e.last = append(e.last[:0], e.last[over:]...)
	}
	return n, nil
}

func (e *ends) bytes() []byte {
	out := append([]byte{}, e.first...)
	if e.skipped > 0 {
		out = append(out, "\n... omitting "+strconv.Itoa(e.skipped)+" bytes ...\n"...)
	}
	return append(out, e.last...)
}
