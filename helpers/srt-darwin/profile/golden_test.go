package profile

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

var update = flag.Bool("update", false, "rewrite the golden profiles")

// golden is the policy of a case. "glob:" makes a path a pattern; protected "all" stands for the table below.
type golden struct {
	DenyRead, AllowRead, AllowWrite, DenyWrite []string
	Protected                                  string
	GitRules, Disabled, Terminal               bool
	Dir, TmpDir, Relay                         string
	Sockets                                    []string
	Network                                    wire.NetPolicy
	Process                                    wire.ProcPolicy
}

// table is what core/policy protects.
var table = func() []wire.Protected {
	var out []wire.Protected
	for _, name := range strings.Fields(`.gitconfig .gitmodules .git/hooks/ .git/config .bashrc .bash_profile .bash_login .bash_logout
		.profile .zshenv .zprofile .zshrc .zlogin .zlogout .envrc .ripgreprc .vscode/ .idea/ .mcp.json .claude/commands/ .claude/agents/
		.claude/hooks/ .claude/settings.json .claude/settings.local.json`) {
		short := strings.TrimSuffix(name, "/")
		out = append(out, wire.Protected{Name: short, Dir: short != name, Reason: "runs later"})
	}
	return out
}()

func entries(paths []string) []wire.PathEntry {
	out := []wire.PathEntry{}
	for _, p := range paths {
		rest, glob := strings.CutPrefix(p, "glob:")
		out = append(out, wire.PathEntry{Path: rest, Glob: glob, Rule: rest})
	}
	return out
}

func (g *golden) files() wire.FilePolicy {
	f := wire.FilePolicy{DenyRead: entries(g.DenyRead), AllowRead: entries(g.AllowRead), AllowWrite: entries(g.AllowWrite),
		DenyWrite: entries(g.DenyWrite), GitRules: g.GitRules, ScanDepth: 3, Disabled: g.Disabled}
	if g.Protected == "all" {
		f.Protected = table
	}
	return f
}

// bind binds a policy to a tree as the helper does.
func bind(files wire.FilePolicy, fs pathrule.FS, dir string) (*pathrule.Policy, error) {
	return pathrule.NewWith(files, fs, pathrule.Options{Dir: dir, Home: "/Users/u", FoldCase: true, LateReads: true})
}

// foldFS is a tree on a volume that ignores case.
type foldFS struct{ *memfs.FS }

// real spells path as the tree has it, and says how much of it is there.
func (f foldFS) real(path string) (string, int) {
	real, exists := "", 0
	for _, name := range components(path) {
		if exists == len(real) {
			found := ""
			_ = f.FS.ReadDir("/"+strings.TrimPrefix(real, "/"), func(raw []byte, _ pathrule.Kind) { // no directory: nothing is found
				if found == "" && strings.EqualFold(string(raw), name) || string(raw) == name {
					found = string(raw)
				}
			})
			if found != "" {
				name, exists = found, exists+1+len(found)
			}
		}
		real += "/" + name
	}
	if real == "" {
		return "/", 1
	}
	return real, max(exists, 1)
}

func (f foldFS) at(path string) string { real, _ := f.real(path); return real }

func (f foldFS) Lstat(path string) pathrule.Kind { return f.FS.Lstat(f.at(path)) }
func (f foldFS) Readlink(path string) string     { return f.FS.Readlink(f.at(path)) }
func (f foldFS) ReadFile(path string) []byte     { return f.FS.ReadFile(f.at(path)) }
func (f foldFS) ReadDir(path string, visit func([]byte, pathrule.Kind)) error {
	return f.FS.ReadDir(f.at(path), visit)
}

func (g *golden) spec(tree *memfs.FS) (Spec, error) {
	fs := foldFS{tree}
	s := Spec{Network: g.Network, Process: g.Process, Sockets: entries(g.Sockets), TmpDir: g.TmpDir, Relay: g.Relay, Tag: "srt-TAG",
		Terminal: g.Terminal, Unlimited: g.Disabled, Real: fs.real}
	var err error
	if !g.Disabled {
		s.Files, err = bind(g.files(), fs, g.Dir)
	}
	return s, err
}

func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(cases) < 8 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			parts := readArchive(t, file)
			fs := memfs.New(strings.Fields(parts["tree"])...)
			var g golden
			d := json.NewDecoder(strings.NewReader(parts["policy.json"]))
			d.DisallowUnknownFields()
			if err := d.Decode(&g); err != nil {
				t.Fatal(err)
			}
			spec, err := g.spec(fs)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Generate(spec)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []sbpltest.Release{sbpltest.MacOS14, sbpltest.MacOS26} {
				j, err := sbpltest.Load(p.Text, r)
				if err != nil {
					t.Errorf("macOS would refuse the profile: %v", err)
				} else if line := j.Misordered(); line != 0 {
					t.Errorf("line %d stands behind a rule for a narrower operation:\n%s", line, p.Text)
				}
			}
			if *update {
				writeArchive(t, file, parts, p.Text)
			} else if p.Text != parts["profile.sb"] {
				t.Errorf("the profile has changed; -update rewrites it. Got:\n%s", p.Text)
			}
		})
	}
}

// readArchive reads "-- name --" sections; what stands before the first is the comment.
func readArchive(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts, name := map[string]string{}, ""
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(rest, " --\n") {
			name = strings.TrimSuffix(rest, " --\n")
			continue
		}
		parts[name] += line
	}
	return parts
}

func writeArchive(t *testing.T, file string, parts map[string]string, profile string) {
	t.Helper()
	text := parts[""] + "-- tree --\n" + parts["tree"] + "-- policy.json --\n" + parts["policy.json"] + "-- profile.sb --\n" + profile
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
