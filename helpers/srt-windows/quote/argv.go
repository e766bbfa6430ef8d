// Package quote makes Windows command lines. A Windows process gets one string, and each program splits it by rules of its own, so
// there is one function for each set of rules: CommandLineToArgvW (and the C run-time), cmd.exe, batch files and PowerShell. It is pure.
// What cannot be said under the rules of a program is an error; it must never be said approximately.
package quote

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxLine is how many UTF-16 units a command line may have, without the final zero.
const MaxLine = 32766

// Argv gives the command line that CommandLineToArgvW and the C run-time split into exactly argv.
//
// Their rules: words end at space or tab outside quotes; a quote opens and closes; 2n backslashes before a quote are n backslashes and
// the quote counts, 2n+1 are n backslashes and a quote character; other backslashes are themselves. The first word is different: it
// ends at the next quote when it starts with one, and a backslash in it means nothing.
func Argv(argv []string) (string, error) {
	if len(argv) == 0 {
		return "", errors.New("command line: no words")
	}
	if err := plain(argv...); err != nil {
		return "", err
	}
	if argv[0] == "" || strings.Contains(argv[0], `"`) {
		return "", fmt.Errorf("command line: %q cannot be the name of a program", argv[0])
	}
	var b strings.Builder
	b.WriteString(`"` + argv[0] + `"`)
	for _, a := range argv[1:] {
		b.WriteByte(' ')
		word(&b, a)
	}
	return bounded(b.String())
}

// word writes one argument, in quotes only where it needs them: some programs look at the line itself.
func word(b *strings.Builder, a string) {
	if a != "" && !strings.ContainsAny(a, " \t\n\v\"") {
		b.WriteString(a)
		return
	}
	b.WriteByte('"')
	slashes := 0
	for i := range len(a) {
		switch a[i] {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1))
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(a[i])
	}
	b.WriteString(strings.Repeat(`\`, slashes) + `"`)
}

// plain refuses what no command line can carry: a zero ends it, and bytes that are no text would arrive as other text.
func plain(words ...string) error {
	for _, w := range words {
		if strings.ContainsRune(w, 0) {
			return fmt.Errorf("command line: %q holds a NUL", w)
		}
		if !utf8.ValidString(w) {
			return fmt.Errorf("command line: %q is not valid UTF-8", w)
		}
	}
	return nil
}

func bounded(line string) (string, error) {
	if n := len(utf16.Encode([]rune(line))); n > MaxLine {
		return "", fmt.Errorf("command line: %d characters, Windows takes %d", n, MaxLine)
	}
	return line, nil
}
