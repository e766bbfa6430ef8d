// Package mountinfo reads the text of the kernel's table of mounts, /proc/PID/mountinfo (proc_pid_mountinfo(5)). It opens nothing.
package mountinfo

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// Mount is one line.
type Mount struct {
	ID       uint64 // unique while it is mounted
	Device   string // of the file system, "major:minor"
	Root     string // which directory (or file) of the file system it shows
	Point    string // where it is mounted, as the reader's root sees it
	Type     string // of the file system
	ReadOnly bool   // the mount, whatever the file system itself is
}

// All gives the mounts in the order of the table, which is that of mounting. A line that is none ends it with an error.
func All(table string) iter.Seq2[Mount, error] {
	return func(yield func(Mount, error) bool) {
		for line := range strings.Lines(table) {
			m, ok := parse(strings.TrimSuffix(line, "\n"))
			if !ok {
				yield(Mount{}, fmt.Errorf("unexpected line %q in the table of mounts", line))
				return
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// parse reads "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw": between the options and the dash stand any number of
// fields. No field holds a blank.
func parse(line string) (m Mount, ok bool) {
	before, after, ok := strings.Cut(line, " - ")
	if !ok {
		return m, false
	}
	var fields [6]string
	for i := range fields {
		if before == "" {
			return m, false
		}
		fields[i], before, _ = strings.Cut(before, " ")
	}
	m.Type, _, _ = strings.Cut(after, " ")
	m.Device, m.Root, m.Point = fields[2], unescape(fields[3]), unescape(fields[4])
	m.ReadOnly = fields[5] == "ro" || strings.HasPrefix(fields[5], "ro,")
	id, err := strconv.ParseUint(fields[0], 10, 64)
	m.ID = id
	return m, err == nil && m.Type != ""
}

// unescape undoes the kernel's \ooo for blanks, line ends and backslashes. What is no such escape stays.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c, ok := octal(s[i:]); ok {
			b = append(b, c)
			i += 3
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

func octal(s string) (byte, bool) {
	if len(s) < 4 || s[0] != '\\' || s[1] > '3' {
		return 0, false
	}
	n := byte(0)
	for _, c := range []byte(s[1:4]) {
		if c < '0' || c > '7' {
			return 0, false
		}
		n = n<<3 | (c - '0')
	}
	return n, true
}
