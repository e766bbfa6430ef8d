// Package elevate runs one verb of this program once more as an administrator, after Windows has asked the user. The words are planned in
// pure code: install says for whom, because an administrator who agrees on somebody's screen is another user. It must never elevate
// anything but this program itself, nor a verb that is not on the list.
package elevate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/srt-dev/srt/helpers/srt-windows/quote"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

// verbs may be elevated.
var verbs = []string{"install", "uninstall"}

// ErrDeclined says that the user, or nobody, agreed.
var ErrDeclined = errors.New("nobody agreed to go on as an administrator")

// Parameters gives the parameter string for the elevated start: the same words, for whom, and a mark that keeps it from asking again.
func Parameters(words []string, user sd.SID) (string, error) {
	if len(words) == 0 || !slices.Contains(verbs, words[0]) {
		return "", fmt.Errorf("elevate %q: only %v are ever run as an administrator", words, verbs)
	}
	out := append(slices.Clone(words), "--elevated")
	if words[0] == "install" && !slices.Contains(words, "--for") {
		out = append(out, "--for", string(user))
	}
	line, err := quote.Argv(append([]string{"p"}, out...))
	if err != nil {
		return "", err
	}
	return line[len(`"p" `):], nil
}
