package quote

import (
	"errors"
	"fmt"
	"strings"
)

// Cmd gives the command line that makes cmd.exe run line as it stands. /d: no AutoRun from the registry; /s: the outermost quotes are
// taken off and everything between them is the line, whatever it holds. /v:off: "!" is a character.
func Cmd(cmdExe, line string) (string, error) {
	if err := plain(cmdExe, line); err != nil {
		return "", err
	}
	if strings.ContainsAny(line, "\r\n") {
		return "", errors.New("command line: cmd.exe runs only the first line of several; write them into a .cmd file, or join them with &")
	}
	if strings.TrimSpace(line) == "" {
		return "", errors.New("command line: nothing for cmd.exe to run")
	}
	if strings.Contains(cmdExe, `"`) {
		return "", fmt.Errorf("command line: %q cannot be the name of a program", cmdExe)
	}
	return bounded(`"` + cmdExe + `" /d /s /v:off /c "` + line + `"`)
}

// Batch gives the command line that runs a batch file with exactly these arguments. Windows itself would hand the arguments to cmd.exe
// unquoted, so that `&calc` in one of them runs a program; here each stands in quotes that cmd.exe honours.
//
// cmd.exe knows no escape for a percent sign on its command line: the expansion of %cd:~,% is always empty, so it can stand between the
// sign and what would make it a variable. A quote inside is doubled, which keeps the quoting going for cmd.exe and is a quote for %~1.
func Batch(cmdExe, file string, args []string) (string, error) {
	if err := plain(append([]string{cmdExe, file}, args...)...); err != nil {
		return "", err
	}
	for _, w := range append([]string{file}, args...) {
		if strings.ContainsAny(w, "\r\n") {
			return "", fmt.Errorf("command line: %q holds a line end, which ends a batch file's line", w)
		}
	}
	if strings.ContainsAny(cmdExe, `"`) || file == "" || strings.ContainsAny(file, `"%`) || strings.HasSuffix(file, `\`) {
		return "", fmt.Errorf("command line: %q cannot be the name of a batch file here", file)
	}
	var b strings.Builder
	b.WriteString(`"` + cmdExe + `" /d /e:on /v:off /s /c ""` + file + `"`)
	for _, a := range args {
		b.WriteByte(' ')
		batchWord(&b, a)
	}
	b.WriteByte('"')
	return bounded(b.String())
}

func batchWord(b *strings.Builder, a string) {
	if a != "" && strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:\\+@#$") == "" && !strings.HasSuffix(a, `\`) {
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
			b.WriteString(strings.Repeat(`\`, slashes) + `"`)
			slashes = 0
		case '%':
			b.WriteString(`%%cd:~,`)
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(a[i])
	}
	b.WriteString(strings.Repeat(`\`, slashes) + `"`)
}
