package pathrule_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
)

// What a run may leave in its writable tree so that the next one protects less.

func TestAPlantedLinkOpensNothing(t *testing.T) {
	for name, c := range map[string]struct {
		allowRead []string
		want      string
	}{
		"a path":                {[]string{"/w/pub"}, `allowRead "/w/pub": "/w/pub" is a symbolic link that leads to "/s" and lies in a directory that the command may write`},
		"a path through it":     {[]string{"/w/pub/f"}, `allowRead "/w/pub/f": "/w/pub" is a symbolic link that leads to "/s/f" and lies in a directory that the command may write`},
		"a pattern":             {[]string{"glob:/w/*"}, `allowRead "/w/*": "/w/pub" is a symbolic link that leads to "/s" and lies in a directory that the command may write`},
		"readable anyway":       {[]string{"/w/pub", "/s"}, ""},
		"a link in its way":     {[]string{"/o/l"}, ""},
		"to what is not denied": {[]string{"/w/free"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pathrule.New(wire.FilePolicy{AllowWrite: entries([]string{"/w"}), DenyRead: entries([]string{"/s"}), AllowRead: entries(c.allowRead)},
				memfs.New("/s/f", "/w/pub -> ../s", "/w/free -> ../o", "/o/l -> ../s"))
			if got := fmt.Sprint(err); err != nil && got != c.want || err == nil && c.want != "" {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestALinkToWhatIsHiddenStays(t *testing.T) {
	run(t, map[string]rules{
		"a path": {tree: []string{"/s/f", "/w/l -> ../s", "/w/d/f"}, allowWrite: []string{"/w"}, denyRead: []string{"/w/l"},
			no: []string{"read /s/f", "remove /w/l", "rename /w/d /w/l"}},
		"a pattern": {tree: []string{"/s/f", "/w/a/l -> ../../s", "/w/d/f"}, allowWrite: []string{"/w"}, denyRead: []string{"glob:/w/**/l"},
			no: []string{"read /s/f", "remove /w/a/l", "rename /w/a /w/b"}},
		"on the way": {tree: []string{"/s/f", "/w/l -> ../s", "/w/d/f"}, allowWrite: []string{"/w"}, denyRead: []string{"/w/l/f"},
			no: []string{"read /s/f", "remove /w/l"}},
	})
}

func TestAPlantedRepository(t *testing.T) {
	run(t, map[string]rules{
		"three names make no bare repository of what else is there": {
			tree: with(repo("/w/.git"), "/w/HEAD", "/w/objects/", "/w/refs/", "/w/.bashrc", "/w/.dep/.vscode/x"), allowWrite: []string{"/w"}, protected: table, git: true,
			no: []string{"write /w/.git/config", "write /w/.bashrc", "write /w/.git/hooks/pre-commit.sample", "create /w/.git/hooks/n", "write /w/.dep/.vscode/x"},
		},
		"a HEAD beside modules": {
			tree:       with(repo("/w/.git"), "/w/.git/modules/HEAD", "/w/.git/modules/.dep/HEAD", "/w/.git/modules/.dep/config", "/w/.git/modules/lfs/HEAD", "/w/.git/modules/lfs/objects/", "/w/.git/modules/lfs/refs/", "/w/.git/modules/lfs/config"),
			allowWrite: []string{"/w"}, protected: table, git: true,
			no: []string{"write /w/.git/modules/.dep/config", "write /w/.git/modules/lfs/config", "mkdir /w/.git/modules/lfs/hooks"},
		},
		"too deep modules": {
			tree:       with(repo("/w/.git"), "/w/.git/modules/1/2/3/4/5/6/7/8/9/HEAD", "/w/.git/modules/1/2/3/4/5/6/7/8/9/config", "/w/.git/modules/m/HEAD"),
			allowWrite: []string{"/w"}, protected: table, git: true,
			yes: []string{"create /w/.git/modules/m/index.lock"}, no: []string{"write /w/.git/modules/1/2/3/4/5/6/7/8/9/config", "create /w/.git/modules/1/2/3/4/5/6/7/8/9/hooks/x"},
		},
	})
}

// closed is a file system with one directory that the caller may not list or not search.
type closed struct {
	*memfs.FS
	dir          string
	list, search bool
	foreign      bool
}

func (f closed) MayChange(string) bool { return !f.foreign }

func (f closed) MaySearch(dir string) bool { return f.search || dir != f.dir }

func (f closed) Lstat(path string) pathrule.Kind {
	if !f.search && strings.HasPrefix(path, f.dir+"/") {
		return pathrule.Missing
	}
	return f.FS.Lstat(path)
}

func (f closed) ReadDir(path string, visit func([]byte, pathrule.Kind)) error {
	if path == f.dir && !f.list || !f.search && strings.HasPrefix(path, f.dir+"/") {
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return f.FS.ReadDir(path, visit)
}

func TestAClosedDirectoryIsDeniedAsAWhole(t *testing.T) {
	for _, mode := range []closed{{list: true}, {search: true}, {}} {
		for _, dir := range []string{"/w/c", "/w/c/.git", "/w"} {
			for _, deny := range []string{"/w/c/secret", "glob:/w/**/secret"} {
				mode.FS, mode.dir = memfs.New(with(repo("/w/c/.git"), "/w/c/secret", "/w/c/pem", "/w/c/.bashrc")...), dir
				p, err := pathrule.New(wire.FilePolicy{AllowWrite: entries([]string{"/w"}), DenyRead: entries([]string{deny}), DenyWrite: entries([]string{"/w/c/pem"}),
					Protected: table, GitRules: true, ScanDepth: 3}, mode)
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range []string{"/w/c/.git/config", "/w/c/pem", "/w/c/.bashrc"} {
					if p.Writable(q) {
						t.Errorf("%s (list %t, search %t), %s: %s is writable", dir, mode.list, mode.search, deny, q)
					}
				}
				if !p.Hidden("/w/c/secret") {
					t.Errorf("%s (list %t, search %t), %s: the secret is not hidden", dir, mode.list, mode.search, deny)
				}
			}
		}
	}
}

// short is a file system as system calls show it: they take no path of more than 4095 bytes.
type short struct{ *memfs.FS }

func (f short) Lstat(path string) pathrule.Kind {
	if len(path) > 4095 {
		return pathrule.Missing
	}
	return f.FS.Lstat(path)
}

func (f short) ReadDir(path string, visit func([]byte, pathrule.Kind)) error {
	if len(path) > 4095 {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("file name too long")}
	}
	return f.FS.ReadDir(path, visit)
}

// A process that goes down directory by directory reads what no path is short enough for.
func TestWhatLiesTooDeepIsDeniedAsAWhole(t *testing.T) {
	top := "/w" + strings.Repeat("/"+strings.Repeat("d", 254), 16)
	for _, below := range []string{"/secret-of-many-letters", "/another/and/another/secret-of-many-letters"} {
		p, err := pathrule.New(wire.FilePolicy{AllowWrite: entries([]string{"/w"}), DenyRead: entries([]string{"glob:/w/**/secret*"}), DenyWrite: entries([]string{"glob:/w/**/secret*"})},
			short{memfs.New(top+below, "/w/other/f")})
		if err != nil {
			t.Fatal(err)
		}
		if q := top + below; !p.Hidden(q) || p.Writable(q) || p.Hidden("/w/other/f") {
			t.Errorf("%s: hidden %t, writable %t, and another %t", below, p.Hidden(q), p.Writable(q), p.Hidden("/w/other/f"))
		}
	}
}

func TestAClosedDirectoryOfSomebodyElseIsLeftAlone(t *testing.T) {
	for _, search := range []bool{true, false} {
		fs := closed{FS: memfs.New("/w/c/secret", "/w/c/pem"), dir: "/w/c", search: search, foreign: true}
		p, err := pathrule.New(wire.FilePolicy{AllowWrite: entries([]string{"/w"}), DenyRead: entries([]string{"glob:/w/**/secret"}), Protected: table, ScanDepth: 3}, fs)
		if err != nil {
			t.Fatal(err)
		}
		if p.Hidden("/w/c") != search { // by name, its files could be opened
			t.Errorf("searchable %t: hidden %t", search, p.Hidden("/w/c"))
		}
	}
}
