package acl

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	accountSID sd.SID = fake.Machine + "-1012"
	group      sd.SID = fake.Machine + "-1011"
)

var protected = []wire.Protected{
	{Name: ".bashrc", Reason: "shells run it"},
	{Name: ".git/hooks", Dir: true, Reason: "git runs them"},
	{Name: ".git/config", Reason: "git runs what it names"},
	{Name: ".vscode", Dir: true, Reason: "editors run it"},
}

// TestGolden reads testdata/*.txtar: a tree, a policy, and the plan that must come out.
//
//	-- tree --      d PATH | f PATH | l PATH -> TARGET | s SHORT LONG | own PATH SID ENTRY… | loosen PATH ENTRY…, ENTRY being KIND FLAGS MASK SID
//	-- policy --    denyRead|allowRead|allowWrite|denyWrite[ glob] PATH, protect
//	-- plan --      or -- error --
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			comment, parts := sections(text)
			w := fake.New()
			layTree(t, w, parts["tree"])
			plan, err := Make(w, Request{Files: readPolicy(t, parts["policy"]), Dir: `C:\Users\alice\proj`, Home: `C:\Users\alice`, Who: Who{fake.Alice, accountSID, group}})
			name, got := "plan", Describe(plan)
			if err != nil {
				name, got = "error", err.Error()+"\nhint: "+hint(err)+"\n"
			}
			if *update {
				out := comment + "-- tree --\n" + parts["tree"] + "-- policy --\n" + parts["policy"] + "-- " + name + " --\n" + got
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want, ok := parts[name]; !ok || want != got {
				t.Errorf("got\n-- %s --\n%swant\n%s", name, got, want)
			}
		})
	}
}

func hint(err error) string {
	var f *wire.Fault
	if asFault(err, &f) {
		return f.Hint
	}
	return ""
}

func sections(text []byte) (comment string, parts map[string]string) {
	parts = map[string]string{}
	name := ""
	for line := range bytes.Lines(text) {
		l := string(line)
		if strings.HasPrefix(l, "-- ") && strings.HasSuffix(l, " --\n") {
			name = strings.TrimSuffix(strings.TrimPrefix(l, "-- "), " --\n")
			parts[name] = ""
		} else if name == "" {
			comment += l
		} else {
			parts[name] += l
		}
	}
	return comment, parts
}
