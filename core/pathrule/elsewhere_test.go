package pathrule_test

import (
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
)

// twice is a file system with one tree at two paths. (In memory it is two trees; a test makes them alike.)
type twice struct {
	*memfs.FS
	a, b string
}

func (f twice) Elsewhere(path string) (same, below []string) {
	for _, m := range [][2]string{{f.a, f.b}, {f.b, f.a}} {
		if rest, ok := strings.CutPrefix(path, m[0]); ok && (rest == "" || rest[0] == '/') {
			same = append(same, m[1]+rest)
		}
		if strings.HasPrefix(m[0], path+"/") && !strings.HasPrefix(m[1], path+"/") {
			below = append(below, m[1])
		}
	}
	return same, below
}

func TestOneTreeAtTwoPaths(t *testing.T) {
	for name, c := range map[string]struct {
		tree    []string
		files   wire.FilePolicy
		yes, no []string
	}{
		"what may not be read": {
			tree: []string{"s", "d/s", "o"}, files: wire.FilePolicy{DenyRead: entries([]string{"/a/s", "/a/d"})},
			yes: []string{"read /b/o", "read /x/o"}, no: []string{"read /b/s", "read /b/d/s", "list /b/d"},
		},
		"by the other path": {
			tree: []string{"s"}, files: wire.FilePolicy{DenyRead: entries([]string{"/b/s"})}, no: []string{"read /a/s", "read /b/s"},
		},
		"read again where it is named": {
			tree: []string{"d/s", "d/o"}, files: wire.FilePolicy{DenyRead: entries([]string{"/a/d"}), AllowRead: entries([]string{"/a/d/o", "/b/d"})},
			yes: []string{"read /a/d/o", "read /b/d/s"}, no: []string{"read /a/d/s"},
		},
		"a directory above one of them": {
			tree: []string{"s"}, files: wire.FilePolicy{AllowWrite: entries([]string{"/b"}), DenyWrite: entries([]string{"/x"})}, yes: []string{"read /b/s"}, no: []string{"write /b/s", "create /b/n"},
		},
		"what may not be written": {
			tree: []string{"d/f", "o"}, files: wire.FilePolicy{AllowWrite: entries([]string{"/a", "/b"}), DenyWrite: entries([]string{"/a/d", "/a/missing"})},
			yes: []string{"write /b/o", "create /b/n"}, no: []string{"write /b/d/f", "create /b/d/n", "create /b/missing", "rename /b/d /b/e"},
		},
		"a pattern": {
			tree: []string{"d/f.pem", "o"}, files: wire.FilePolicy{AllowWrite: entries([]string{"/a", "/b"}), DenyWrite: entries([]string{"glob:/a/**/*.pem"})},
			yes: []string{"create /b/n"}, no: []string{"write /b/d/f.pem", "create /b/d/new.pem", "create /a/new.pem"},
		},
		"a pattern that begins above": {
			tree: []string{"d/f.pem", "o"}, files: wire.FilePolicy{AllowWrite: entries([]string{"/a", "/b"}), DenyWrite: entries([]string{"glob:/x/**/*.pem"})},
			no: []string{"create /b/d/new.pem"},
		},
		"protected names": {
			tree: []string{".git/config", ".git/HEAD", ".git/hooks/h", ".git/objects/", ".git/refs/", ".bashrc"}, files: wire.FilePolicy{AllowWrite: entries([]string{"/a", "/b"}), ScanDepth: 1, Protected: table, GitRules: true},
			yes: []string{"write /b/.git/HEAD"}, no: []string{"write /b/.git/config", "create /b/.git/commondir", "create /b/.git/hooks/n", "write /b/.bashrc", "rename /b/.git /b/g"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			mem := memfs.New("/x/o")
			for _, f := range c.tree {
				mem.Add("/a/"+f, "/b/"+f)
			}
			fs := twice{mem, "/a", "/b"}
			if strings.Contains(name, "above") { // the first of the two lies inside /x
				fs.a = "/x/a"
				mem.Add("/x/a/" + c.tree[0])
			}
			p, err := pathrule.New(c.files, fs)
			if err != nil {
				t.Fatal(err)
			}
			for want, list := range map[bool][]string{true: c.yes, false: c.no} {
				for _, text := range list {
					if got := ask(t, p, text); got.Allowed != want {
						t.Errorf("%s: allowed %t (%s: %s)", text, got.Allowed, got.Rule, got.Reason)
					}
				}
			}
		})
	}
}
