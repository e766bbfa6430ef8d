package quote

import (
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf16"
)

// PowerShell gives the command line that makes powershell.exe or pwsh.exe run script as it stands: it travels encoded, so no quoting
// rule of any program on the way applies to it.
func PowerShell(exe, script string) (string, error) {
	if err := plain(exe, script); err != nil {
		return "", err
	}
	if strings.TrimSpace(script) == "" {
		return "", errors.New("command line: nothing for PowerShell to run")
	}
	var raw []byte
	for _, u := range utf16.Encode([]rune(script)) {
		raw = append(raw, byte(u), byte(u>>8))
	}
	return Argv([]string{exe, "-NoLogo", "-NoProfile", "-NonInteractive", "-EncodedCommand", base64.StdEncoding.EncodeToString(raw)})
}

// PowerShellWord gives a as one literal word of a PowerShell script. Four typographic marks count as single quotes there, too.
func PowerShellWord(a string) (string, error) {
	if err := plain(a); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range a {
		if strings.ContainsRune("'\u2018\u2019\u201a\u201b", r) {
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	b.WriteByte('\'')
	return b.String(), nil
}
