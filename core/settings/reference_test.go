package settings_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/settings"
)

var update = flag.Bool("update", false, "rewrite docs/settings.md")

const head = `# Settings

One JSON object, by default in ` + "`~/.srt-settings.json`, or `--settings FILE`" + `. Comments and trailing commas are accepted. Every key is optional; an absent list is
an empty list, and an empty allow list allows nothing. Keys are case-sensitive; an unknown, repeated or wrongly typed key is an error that
names file, line and key, and nothing runs.

Paths: ` + "`~`" + ` is the home directory, relative paths start at the working directory, a trailing ` + "`/` or `/**`" + ` on a directory means the directory. ` + "`* ? […] **`" + `
are read as git reads them; an entry with such characters also names the literal path when that exists, and ` + "`{\"path\": P, \"literal\": true}`" + ` is
never a pattern. There are no alternatives in braces, no variables, and no "!" that takes an entry back: who writes one gets an error, unless a file is called so. Reads: denyRead, then allowRead inside it, then a finer denyRead inside that. Writes: allowWrite, and denyWrite wins.

Hosts: ` + "`host`, `*.host`" + ` (subdomains only), addresses (` + "`10.0.0.1`, `[2001:db8::1]`), each with an optional `:port`" + `. An allow-listed loopback address with a
port (` + "`127.0.0.1:5432`, `localhost:3000`, `app.localhost:3000`" + `) is reachable by that address inside the sandbox.

A key that asks for a protection which this version does not have is an error, never read and ignored.

This page is made from the table in ` + "`core/settings/keys.go`" + ` (` + "`go test ./core/settings -run Reference -update`" + `).

| key | form | where | what it does |
|---|---|---|---|
`

// The reference of the settings is the table that reads them.
func TestReferencePage(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	for _, k := range settings.Keys() {
		where := k.OS
		if where == "" {
			where = "everywhere"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Path, escape(k.Form()), where, escape(k.Doc))
	}
	const page = "../../docs/settings.md"
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Error("docs/settings.md is not what the table says; run this test with -update")
	}
}

func escape(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
