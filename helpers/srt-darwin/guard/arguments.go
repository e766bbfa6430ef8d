package guard

import (
	"bytes"
	"strings"
)

// parseArguments takes the environment out of what macOS tells about a process (kern.procargs2): the number of arguments in four bytes,
// the path of the program, NULs, the arguments, the environment, each ended by a NUL. A process may write what it likes there; number
// reads the first four bytes.
func parseArguments(raw []byte, number func([]byte) uint32) []string {
	if len(raw) < 4 {
		return nil
	}
	count := number(raw)
	_, rest, ok := bytes.Cut(raw[4:], []byte{0})
	if !ok {
		return nil
	}
	rest = bytes.TrimLeft(rest, "\x00")
	words := strings.Split(string(rest), "\x00")
	if uint64(count) >= uint64(len(words)) {
		return nil
	}
	var env []string
	for _, w := range words[count:] {
		if w == "" {
			break
		}
		env = append(env, w)
	}
	return env
}
