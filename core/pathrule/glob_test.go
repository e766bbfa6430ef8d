package pathrule

import (
	"strings"
	"testing"
	"time"
)

func TestGlobMatch(t *testing.T) {
	for name, c := range map[string]struct {
		pattern string
		yes, no []string
	}{
		"a star stays within a component":               {"/w/*.pem", []string{"/w/a.pem", "/w/.pem"}, []string{"/w/a/b.pem", "/w/pem", "/a.pem"}},
		"a star matches a leading dot":                  {"/w/*", []string{"/w/.env"}, []string{"/w", "/w/a/b"}},
		"a question mark is one byte":                   {"/w/f?", []string{"/w/f1", "/w/f."}, []string{"/w/f", "/w/f12", "/w/f/"}},
		"a set":                                         {"/w/f[0-9a]", []string{"/w/f0", "/w/fa"}, []string{"/w/fb", "/w/f"}},
		"a negated set":                                 {"/w/f[!0-9]", []string{"/w/fx"}, []string{"/w/f5"}},
		"a negated set with a caret":                    {"/w/f[^0-9]", []string{"/w/fx"}, []string{"/w/f5"}},
		"a closing bracket comes first in a set":        {"/w/[]a]", []string{"/w/]", "/w/a"}, []string{"/w/b"}},
		"a class in a set":                              {"/w/[[:digit:]_]x", []string{"/w/3x", "/w/_x"}, []string{"/w/ax"}},
		"a dash at the end of a set":                    {"/w/[a-]", []string{"/w/-", "/w/a"}, []string{"/w/b"}},
		"an escaped star":                               {`/w/a\*b`, []string{"/w/a*b"}, []string{"/w/axb"}},
		"an escaped bracket in a set":                   {`/w/[\]]`, []string{"/w/]"}, []string{`/w/\`}},
		"two stars in front match at any depth":         {"/w/**/.env", []string{"/w/.env", "/w/a/.env", "/w/a/b/.env"}, []string{"/w/env", "/w/.env/x", "/.env"}},
		"two stars in the middle also match no depth":   {"/w/a/**/b", []string{"/w/a/b", "/w/a/x/b", "/w/a/x/y/b"}, []string{"/w/ab", "/w/a"}},
		"two stars at the end match everything inside":  {"/w/**", []string{"/w/a", "/w/a/b"}, []string{"/w", "/x"}},
		"a directory at any depth and what is in it":    {"/w/**/build/**", []string{"/w/build/x", "/w/a/build/x/y"}, []string{"/w/build", "/w/builds/x"}},
		"two stars inside a component are one":          {"/w/a**b", []string{"/w/ab", "/w/axb"}, []string{"/w/a/b"}},
		"three stars as a component are two":            {"/w/***/b", []string{"/w/b", "/w/x/y/b"}, nil},
		"a leading two stars starts at the root":        {"/**/x", []string{"/x", "/a/x", "/a/b/x"}, []string{"/xx"}},
		"repeated two stars":                            {"/w/**/**/x", []string{"/w/x", "/w/a/b/x"}, nil},
		"case counts":                                   {"/w/A*", []string{"/w/Ab"}, []string{"/w/ab"}},
		"stars on both sides of text that comes twice":  {"/w/*aab*", []string{"/w/aaab", "/w/xaabaab"}, []string{"/w/abab"}},
		"a drive is a component":                        {"C:/w/*.pem", []string{"C:/w/a.pem"}, []string{"D:/w/a.pem"}},
		"a set never matches what is outside of a byte": {"/w/[é]", nil, []string{"/w/é"}},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := ParseGlob(c.pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range c.yes {
				if !g.Match(p) || !g.Covers(p+"/below") {
					t.Errorf("%q does not match %q", c.pattern, p)
				}
			}
			for _, p := range c.no {
				if g.Match(p) {
					t.Errorf("%q matches %q", c.pattern, p)
				}
			}
		})
	}
}

func TestGlobFold(t *testing.T) {
	g, err := ParseGlobFold("/W/[A-C]*.PEM")
	if err != nil {
		t.Fatal(err)
	}
	if !g.Match("/w/Bx.pem") || g.Match("/w/dx.pem") {
		t.Error("case is not ignored")
	}
}

func TestGlobErrors(t *testing.T) {
	for name, c := range map[string]struct{ pattern, want string }{
		"an open bracket":        {"/w/[ab", `"[" without "]": write "\[" for a bracket`},
		"an open bracket at /":   {"/w/[a/b]", `"[" without "]": write "\[" for a bracket`},
		"a slash at the end":     {"/w/*/", `a pattern cannot end in "/": leave it out, or end in "/**" for what is inside`},
		"nothing":                {"", "a pattern must be absolute"},
		"the root":               {"/", "an empty pattern"},
		"relative":               {"a/*", "a pattern must be absolute"},
		"a NUL":                  {"/w/*\x00", "a pattern cannot contain a NUL byte"},
		"a dot component":        {"/w/../*", `a pattern cannot contain "//", "." or ".." as a component`},
		"an unknown class":       {"/w/[[:foo:]]", `an unknown character class "[:foo:]"`},
		"a backslash at the end": {`/w/*\`, `"\" at the end of a component: write "\\" for a backslash`},
		"too deep":               {strings.Repeat("/*", 64), "a pattern may have at most 63 components"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseGlob(c.pattern); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestGlobBaseAndPruning(t *testing.T) {
	for _, c := range []struct {
		pattern, base string
		look, skip    []string
	}{
		{"/w/a/*.pem", "/w/a", []string{"/w", "/w/a"}, []string{"/w/a/b", "/w/b", "/x"}},
		{"/w/**/x/y", "/w", []string{"/w", "/w/q", "/w/q/x"}, []string{"/v"}},
		{"/*/x", "/", []string{"/", "/a"}, []string{"/a/b"}},
		{`/w/a\*/x*`, "/w/a*", []string{"/w/a*"}, []string{"/w/ab"}},
		{`/w/a\*`, "/w", []string{"/w"}, []string{"/w/a*"}},
		{"C:/*", "C:/", nil, nil},
	} {
		g, err := ParseGlob(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if g.LiteralBase() != c.base {
			t.Errorf("%q: base %q, want %q", c.pattern, g.LiteralBase(), c.base)
		}
		for _, d := range c.look {
			if !g.MayMatchBelow(d) {
				t.Errorf("%q: does not look below %q", c.pattern, d)
			}
		}
		for _, d := range c.skip {
			if g.MayMatchBelow(d) {
				t.Errorf("%q: looks below %q", c.pattern, d)
			}
		}
	}
}

func TestGlobRebaseEscapes(t *testing.T) {
	g, err := ParseGlob("/l/x/**/*.pem")
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Rebase("/w/[a]*")
	if err != nil {
		t.Fatal(err)
	}
	if !r.Match("/w/[a]*/q/k.pem") || r.Match("/w/aa/k.pem") || r.LiteralBase() != "/w/[a]*" {
		t.Errorf("rebased to %q, base %q", r, r.LiteralBase())
	}
}

// A pattern made to defeat a matcher that tries every split ends at once.
func TestGlobIsNotExponential(t *testing.T) {
	g, err := ParseGlob("/" + strings.Repeat("**/*a*a*a*a*a*a*a*b/", 10) + "x")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if g.Match(strings.Repeat("/"+strings.Repeat("a", 200), 20)) {
		t.Error("matches")
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("took %v", d)
	}
}

// naive is the definition, by trying everything.
func naive(pattern, path []string) bool {
	if len(pattern) == 0 {
		return len(path) == 0
	}
	if isAny(pattern[0]) {
		if len(pattern) == 1 {
			return len(path) > 0
		}
		for i := 0; i <= len(path); i++ {
			if naive(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	}
	return len(path) > 0 && naiveName(pattern[0], path[0]) && naive(pattern[1:], path[1:])
}

func isAny(s string) bool { return len(s) > 1 && strings.Trim(s, "*") == "" }

func naiveName(p, s string) bool {
	switch {
	case p == "":
		return s == ""
	case p[0] == '*':
		for i := 0; i <= len(s); i++ {
			if naiveName(p[1:], s[i:]) {
				return true
			}
		}
		return false
	case s == "":
		return false
	case p[0] == '?':
		return naiveName(p[1:], s[1:])
	case p[0] == '\\' && len(p) > 1:
		return p[1] == s[0] && naiveName(p[2:], s[1:])
	}
	return p[0] == s[0] && naiveName(p[1:], s[1:])
}

func FuzzGlob(f *testing.F) {
	f.Add("**/a*b/?", "/x/ab/c", "/x")
	f.Add("a/**/b/**", "/a/b/c", "/a")
	f.Add("*a*/**", "/bab/x", "/bab")
	f.Fuzz(func(t *testing.T, pattern, path, dir string) {
		if len(pattern) > 40 || len(path) > 60 || strings.Contains(pattern, "[") {
			return
		}
		pattern, path = "/"+strings.TrimPrefix(pattern, "/"), "/"+strings.Trim(path, "/")
		g, err := ParseGlob(pattern)
		if err != nil || strings.Contains(path, "//") || path == "/" {
			return
		}
		parts := strings.Split(path[1:], "/")
		want := naive(strings.Split(pattern[1:], "/"), parts)
		if got := g.Match(path); got != want {
			t.Fatalf("%q on %q: %v, want %v", pattern, path, got, want)
		}
		if want {
			for i := 1; i < len(parts); i++ {
				if up := "/" + strings.Join(parts[:i], "/"); !g.MayMatchBelow(up) {
					t.Fatalf("%q matches %q but does not look below %q", pattern, path, up)
				}
			}
			if !inside(path, g.LiteralBase()) {
				t.Fatalf("%q matches %q outside of its base %q", pattern, path, g.LiteralBase())
			}
		}
	})
}
