package quote

import "strings"

// Hostile gives argument vectors that have broken quoting somewhere: the words behind the program. It is for tests, here and on Windows.
func Hostile() [][]string {
	single := []string{
		``, ` `, `  `, "\t", "\n", "a b", `a"b`, `"`, `""`, `"""`, `\`, `\\`, `\"`, `\\"`, `\\\"`, `a\`, `a\\`, `a\ b`, `a b\`, `a b\\`, `"a b"`, `a"`, `"a`,
		`C:\Program Files\x\`, `C:\a b\"c`, `\\server\share\`, `--x="a b"`, `--x=a"b"c`, `'a b'`, "`a`", `$(calc)`, "`calc`", `%PATH%`, `%`, `%%`, `%1`, `%~dp0`,
		`%cd:~,1%`, `!PATH!`, `^`, `^^`, `^"`, `&calc`, `&&calc`, `|calc`, `||calc`, `>x`, `<x`, `2>&1`, `(a)`, `a;b`, `a,b`, `a=b`, `@echo`, `"&calc&"`, `" & calc & "`,
		`\" & calc & \"`, `"%PATH%"`, `^%PATH^%`, `*`, `?`, `*.txt`, `/c`, `/?`, `-`, `--`, `-EncodedCommand`, `;calc`, `#`, `~`, `{}`, `[]`, "a\x0bb", "a\x0cb", "a\x7fb",
		"\u00a0", "a\u2003b", "\u201cq\u201d", "\u2018q\u2019", "\uff02", "\u202eabc", "日本語 テスト", "🙂 x", "e\u0301", strings.Repeat(`\`, 50), strings.Repeat(`"`, 50),
		strings.Repeat(`\"`, 30), strings.Repeat("a ", 200), "a\tb", "\ta", "a\t", `a"b c"d`, `a""b`, `a\"b c`, `\"\"`, `\ \ `, `" "`, `\" \"`, `a\\\\"b`, `"a\\`,
	}
	var out [][]string
	for _, s := range single {
		out = append(out, []string{s})
	}
	return append(out, []string{"", "", ""}, []string{`a\`, "b"}, []string{`a b\`, `c"d`, ``}, []string{`"`, `\`}, []string{`\`, `"`}, single, []string{`-c`, `echo "a b"`}, []string{`a`, `b c`, `d\ e`})
}
