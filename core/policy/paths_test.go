package policy

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

func show(list []wire.PathEntry) string {
	var out []string
	for _, e := range list {
		s := e.Path
		if e.Glob {
			s = "glob " + s
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func TestEntriesBecomeAbsolute(t *testing.T) {
	odd := here
	odd.Dir = `/w/[x] *\y`
	root := here
	root.Dir = "/"
	windows := Context{GOOS: "windows", Home: `C:\Users\u`, Dir: `D:\proj [1]`}
	for name, c := range map[string]struct {
		ctx   Context
		entry settings.PathEntry
		want  string
	}{
		"working directory":               {here, settings.PathEntry{Path: "."}, "/proj"},
		"home":                            {here, settings.PathEntry{Path: "~"}, "/home/u"},
		"below home":                      {here, settings.PathEntry{Path: "~/.ssh/"}, "/home/u/.ssh"},
		"home and all below":              {here, settings.PathEntry{Path: "~/**"}, "/home/u"},
		"relative":                        {here, settings.PathEntry{Path: "./a//b/."}, "/proj/a/b"},
		"above":                           {here, settings.PathEntry{Path: "../../../x"}, "/x"},
		"absolute":                        {here, settings.PathEntry{Path: "/a/../b/"}, "/b"},
		"the root":                        {here, settings.PathEntry{Path: "/"}, "/"},
		"the root and all below":          {here, settings.PathEntry{Path: "/**"}, "/"},
		"a directory and all below":       {here, settings.PathEntry{Path: "d/**"}, "/proj/d"},
		"the same with more of it":        {here, settings.PathEntry{Path: "d/**/**"}, "/proj/d"},
		"everything here":                 {here, settings.PathEntry{Path: "**"}, "/proj"},
		"a dollar inside a name":          {here, settings.PathEntry{Path: "a$b"}, "/proj/a$b"},
		"a dollar before a digit":         {here, settings.PathEntry{Path: "$1"}, "/proj/$1"},
		"a backslash is a name on Linux":  {here, settings.PathEntry{Path: `a\b`}, `/proj/a\b`},
		"spaces inside":                   {here, settings.PathEntry{Path: "a  b"}, "/proj/a  b"},
		"braces around one word":          {here, settings.PathEntry{Path: "{{x}}/{y}"}, "/proj/{{x}}/{y}"},
		"parentheses":                     {here, settings.PathEntry{Path: "(a)/b (c)"}, "/proj/(a)/b (c)"},
		"a bang that is not first":        {here, settings.PathEntry{Path: "a!"}, "/proj/a!"},
		"a dollar in a component":         {here, settings.PathEntry{Path: "d/a$b/$"}, "/proj/d/a$b/$"},
		"a tilde that is not first":       {here, settings.PathEntry{Path: "a/~"}, "/proj/a/~"},
		"pattern":                         {here, settings.PathEntry{Path: "*.pem"}, "glob /proj/*.pem"},
		"pattern at any depth":            {here, settings.PathEntry{Path: "**/.env"}, "glob /proj/**/.env"},
		"pattern from the root":           {here, settings.PathEntry{Path: "/**/.env"}, "glob /**/.env"},
		"pattern below home":              {here, settings.PathEntry{Path: "~/*/x"}, "glob /home/u/*/x"},
		"pattern that is not clean":       {here, settings.PathEntry{Path: "./a/.././/b?"}, "glob /proj/b?"},
		"pattern above":                   {here, settings.PathEntry{Path: "../x*"}, "glob /x*"},
		"pattern and all below":           {here, settings.PathEntry{Path: "**/build/**"}, "glob /proj/**/build"},
		"bracket":                         {here, settings.PathEntry{Path: "/proj/[WIP] x/keep"}, "glob /proj/[WIP] x/keep"},
		"escaped star in a pattern":       {here, settings.PathEntry{Path: `\**`}, `glob /proj/\**`},
		"literal":                         {here, settings.PathEntry{Path: "a*[b]/", Literal: true}, "/proj/a*[b]"},
		"literal with stars at the end":   {here, settings.PathEntry{Path: "a/**", Literal: true}, "/proj/a/**"},
		"literal below home":              {here, settings.PathEntry{Path: "~/a?", Literal: true}, "/home/u/a?"},
		"literal with a dollar":           {here, settings.PathEntry{Path: "$HOME", Literal: true}, "/proj/$HOME"},
		"pattern at the root":             {root, settings.PathEntry{Path: "*.x"}, "glob /*.x"},
		"odd directory":                   {odd, settings.PathEntry{Path: "a"}, `/w/[x] *\y/a`},
		"pattern in an odd directory":     {odd, settings.PathEntry{Path: "a*"}, `glob /w/\[x] \*\\y/a*`},
		"pattern above an odd directory":  {odd, settings.PathEntry{Path: "../a*"}, `glob /w/a*`},
		"pattern ../ inside the pattern":  {odd, settings.PathEntry{Path: "../../b/a*"}, `glob /b/a*`},
		"Windows, relative":               {windows, settings.PathEntry{Path: `a\b/c`}, "D:/proj [1]/a/b/c"},
		"Windows, home":                   {windows, settings.PathEntry{Path: `~\.ssh\`}, "C:/Users/u/.ssh"},
		"Windows, absolute":               {windows, settings.PathEntry{Path: `e:\x\..\y`}, "e:/y"},
		"Windows, a drive":                {windows, settings.PathEntry{Path: `E:\`}, "E:/"},
		"Windows, all below":              {windows, settings.PathEntry{Path: `E:\**`}, "E:/"},
		"Windows, pattern":                {windows, settings.PathEntry{Path: `**\.env`}, `glob D:/proj \[1]/**/.env`},
		"Windows, pattern above the root": {windows, settings.PathEntry{Path: `E:\..\..\x*`}, `glob E:/x*`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &settings.File{Filesystem: settings.Filesystem{DenyRead: []settings.PathEntry{c.entry}, AllowWrite: []settings.PathEntry{c.entry}}}
			p, err := Resolve(f, c.ctx)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(p.Files().DenyRead); got != c.want {
				t.Errorf("denyRead: got %s, want %s", got, c.want)
			}
			if got := show(p.Files().AllowWrite); got != c.want {
				t.Errorf("allowWrite: got %s, want %s", got, c.want)
			}
			for _, e := range append(p.Files().DenyRead, p.Files().AllowWrite...) {
				if e.Rule != c.entry.Path {
					t.Errorf("rule %q", e.Rule)
				}
			}
		})
	}
}

func TestEntriesThatNameWhatExists(t *testing.T) {
	c := here
	c.Dir = "/w/[x]"
	odd := []string{"/w/[x]/ a ", "/w/[x]/!a", "/w/[x]/{a,b}", "/w/[x]/{a,b}*", "/w/[x]/d/(a|b)", "/c/$X"}
	c.Exists = func(path string) bool {
		return path == "/w/[x]/[y]" || path == "/w/[x]/a[b" || path == "/c[d" || slices.Contains(odd, path)
	}
	p := resolve(t, `{"filesystem": {"denyRead": ["[y]", "[z]", "a[b/**", "/c[d"], "denyWrite": [" a ", "!a", "{a,b}/**", "{a,b}*", "d/(a|b)", "/c/$X"]}}`, Context{GOOS: "linux", Home: "/h", Dir: c.Dir, Exists: c.Exists})
	if got := show(p.Files().DenyRead); got != `glob /w/\[x]/[y] | /w/[x]/[y] | glob /w/\[x]/[z] | /w/[x]/a[b | /c[d` {
		t.Errorf("got %s", got)
	}
	if got := show(p.Files().DenyWrite); !strings.HasPrefix(got, `/w/[x]/ a  | /w/[x]/!a | /w/[x]/{a,b} | glob /w/\[x]/{a,b}* | /w/[x]/{a,b}* | /w/[x]/d/(a|b) | /c/$X | `) {
		t.Errorf("got %s", got)
	}
}

func TestEscapedDirectoryMatchesItself(t *testing.T) {
	c := here
	c.Dir = `/w/[ab] ?*\`
	p := resolve(t, `{"filesystem": {"denyRead": ["*.x"]}}`, c)
	g, err := pathrule.ParseGlob(p.Files().DenyRead[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	if !g.Match(c.Dir+"/f.x") || g.Match("/w/a ?*\\/f.x") || g.Match("/w/[ab] zz\\/f.x") {
		t.Errorf("%s", g)
	}
}

// FuzzEntry: whatever an entry is, it is refused with one line or becomes absolute clean paths and patterns that parse.
func FuzzEntry(f *testing.F) {
	for _, s := range []string{".", "~", "~/x", "/a/**", "**/x/", "a[b", "../..", "[]]", `\`, "a/../*/..", "//", "C:\\x", "/**/**/a", "$x", "%A%", "[[:alpha:]]"} {
		f.Add(s, "/w/[x]", false, false)
		f.Add(s, `C:\w`, true, true)
	}
	f.Fuzz(func(t *testing.T, entry, dir string, windows, literal bool) {
		c := Context{GOOS: "linux", Home: "/h", Dir: dir}
		if windows {
			c.GOOS, c.Home = "windows", "C:/h"
		}
		e := []settings.PathEntry{{Path: entry, Literal: literal}}
		p, err := Resolve(&settings.File{Filesystem: settings.Filesystem{DenyRead: e, AllowWrite: e}}, c)
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return !strconv.IsPrint(r) }) {
				t.Fatalf("not one line: %q", err)
			}
			return
		}
		all := append(p.Files().DenyRead, p.Files().AllowWrite...)
		if len(all) == 0 {
			t.Fatal("the entry vanished")
		}
		style := stylePaths(c)
		for _, e := range all {
			if !style.isAbs(e.Path) || len(e.Path) > maxPath || strings.ContainsRune(e.Path, 0) {
				t.Fatalf("%+v", e)
			}
			if e.Glob {
				if _, err := pathrule.ParseGlob(e.Path); err != nil || literal {
					t.Fatalf("%+v: %v", e, err)
				}
			} else if style.clean(e.Path) != e.Path {
				t.Fatalf("not clean: %+v", e)
			}
		}
	})
}

func BenchmarkResolve3000Paths(b *testing.B) {
	f := &settings.File{}
	for i := range 3000 {
		f.Filesystem.DenyWrite = append(f.Filesystem.DenyWrite, settings.PathEntry{Path: "some/dir/file" + strconv.Itoa(i)})
	}
	for b.Loop() {
		if _, err := Resolve(f, here); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve10000Domains(b *testing.B) {
	f := &settings.File{}
	for i := range 10000 {
		f.Network.AllowedDomains = append(f.Network.AllowedDomains, "host"+strconv.Itoa(i)+".example.com")
	}
	for b.Loop() {
		if _, err := Resolve(f, here); err != nil {
			b.Fatal(err)
		}
	}
}
