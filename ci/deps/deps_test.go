package deps

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the lists")

const root = "../.."

func TestProgramsLinkWhatTheyShould(t *testing.T) {
	for _, p := range Programs {
		for _, system := range p.Systems {
			t.Run(p.Name+"/"+system, func(t *testing.T) {
				all, err := List(root, p, system)
				if err != nil {
					t.Fatal(err)
				}
				for _, finding := range Forbidden(p, all) {
					t.Error(finding)
				}
				file := filepath.Join("testdata", p.Name+"."+system+".txt")
				if *update {
					if err := os.WriteFile(file, []byte(Golden(all)), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if got := Golden(all); got != string(want) {
					t.Errorf("%s links other packages than %s says (go test ./ci/deps -update rewrites it):\n%s", p.Name, file, difference(string(want), got))
				}
			})
		}
	}
}

// difference lists lines of one side only.
func difference(want, got string) string {
	var b strings.Builder
	for line := range strings.Lines(want) {
		if !strings.Contains("\n"+got, "\n"+line) {
			b.WriteString("- " + line)
		}
	}
	for line := range strings.Lines(got) {
		if !strings.Contains("\n"+want, "\n"+line) {
			b.WriteString("+ " + line)
		}
	}
	return b.String()
}

func TestForbiddenIsFound(t *testing.T) {
	p := Program{Name: "srt", Never: []Never{noPlugin, noHTTP}}
	for name, c := range map[string]struct{ line, want string }{
		"the package":            {"github.com/hashicorp/go-plugin", "srt links github.com/hashicorp/go-plugin: 20 ms of CPU at every start"},
		"a package below it":     {"github.com/hashicorp/go-plugin/runner", "srt links github.com/hashicorp/go-plugin/runner: 20 ms of CPU at every start"},
		"one of Go's own":        {"net/http standard", "srt links net/http: page faults at every start, and nothing here speaks HTTP"},
		"a longer name":          {"github.com/hashicorp/go-plugins", ""},
		"a package that is fine": {"net standard", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(Forbidden(p, []string{c.line}), "\n"); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func TestGoldenKeepsWhatIsNotGosOwn(t *testing.T) {
	if got := Golden([]string{"os standard", "z.org/z", "a.org/a", "golang.org/x/sys/unix"}); got != "a.org/a\ngolang.org/x/sys/unix\nz.org/z\n" {
		t.Errorf("golden %q", got)
	}
	if got := difference("a\nb\n", "b\nc\n"); got != "- a\n+ c\n" {
		t.Errorf("difference %q", got)
	}
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	_, err := List(root, Program{Name: "none", Package: "./cmd/none"}, "linux")
	if err == nil || !strings.HasPrefix(err.Error(), "list none for linux: ") {
		t.Errorf("error %v", err)
	}
}

// The list of programs and the one of scripts/build must be one list.
func TestTheBuildMakesThesePrograms(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "scripts", "build"))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(script)) {
		if f := strings.Fields(line); len(f) > 3 && strings.HasPrefix(f[1], "./") {
			lines[f[0]] = f[1] + " " + strings.Join(f[3:], " ")
		}
	}
	if len(lines) != len(Programs) {
		t.Errorf("scripts/build makes %d programs, the list has %d", len(lines), len(Programs))
	}
	for _, p := range Programs {
		if want := p.Package + " " + strings.Join(p.Systems, " "); lines[p.Name] != want {
			t.Errorf("%s: scripts/build says %q, the list %q", p.Name, lines[p.Name], want)
		}
	}
}
