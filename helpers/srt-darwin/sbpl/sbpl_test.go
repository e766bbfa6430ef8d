package sbpl

import (
	"reflect"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	src := "; comment \"(\n(version 1)\n(allow file-read* ; why\n  (literal \"/a\\\\b\\\"c d\"))\n(if (defined? 'nvram*) (deny nvram*))"
	got, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{
		L("version", Sym("1")),
		L("allow", Sym("file-read*"), L("literal", Str(`/a\b"c d`))),
		L("if", L("defined?", Sym("'nvram*")), L("deny", Sym("nvram*"))),
	}
	if !reflect.DeepEqual(stripLines(got), want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	if got[1].Line != 3 || got[2].Line != 5 {
		t.Errorf("lines %d and %d, want 3 and 5", got[1].Line, got[2].Line)
	}
}

func TestRefusedSyntax(t *testing.T) {
	for name, c := range map[string]struct{ src, err string }{
		"list left open":                {"(a\n(b)", "line 2: the list of line 1 is not closed"},
		"list closed twice":             {"(a))", `line 1: ")" without "("`},
		"string left open":              {`"a`, "line 1: a string is not closed"},
		"escape that readers differ on": {`"\x41"`, `line 1: "\" is used for other than \" and \\`},
		"raw string":                    {`#"a"`, `line 1: unexpected '#'`},
		"newline in a string":           {"\"a\nb\"", `line 1: "a\nb" holds the control character U+000A`},
		"string glued to a word":        {`a"b"`, `line 1: unexpected '"' behind a word`},
		"word glued to a string":        {`"b"a`, `line 1: unexpected 'a' behind a word`},
		"lone quote":                    {`(')`, `line 1: unexpected '\''`},
		"too deep":                      {strings.Repeat("(", 70), "line 1: lists are nested deeper than 64"},
		"too long a string":             {`"` + strings.Repeat("a", 1001) + `"`, "line 1: 1001 bytes in a profile, which takes at most 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(c.src); err == nil || err.Error() != c.err {
				t.Errorf("got error %v\nwant      %s", err, c.err)
			}
		})
	}
}

func TestUnwritable(t *testing.T) {
	for name, c := range map[string]struct {
		n   Node
		err string
	}{
		"control character":      {Str("/a\x01"), `"/a\x01" holds the control character U+0001`},
		"C1 control character":   {Str("/a\u009b"), `"/a\u009b" holds the control character U+009B`},
		"line separator":         {Str("/a\u2028"), `"/a\u2028" holds the control character U+2028`},
		"not UTF-8":              {Str("/a\xff"), `"/a\xff" is not valid UTF-8`},
		"escapes count as bytes": {Str(strings.Repeat(`"`, 501)), "1002 bytes in a profile, which takes at most 1000"},
		"symbol with a space":    {Sym("a b"), `"a b" is not a symbol (a bug, please report)`},
		"empty symbol":           {L("a", Sym("")), `"" is not a symbol (a bug, please report)`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Append(nil, c.n); err == nil || err.Error() != c.err {
				t.Errorf("got error %v\nwant      %s", err, c.err)
			}
		})
	}
}

// FuzzString: what is written is read back as the same bytes and as nothing else, or is refused by both directions alike.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "/Users/u/кириллица-ß", `/a"b\c`, "/a\nb", `\`, `")(allow default)("`, "/\xff", "/a;b", "/'a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := Append(nil, L("literal", Str(s)))
		if err != nil {
			if CheckString(s) == nil {
				t.Fatalf("refused although it passes CheckString: %v", err)
			}
			return
		}
		if got := len(text) - len(`(literal "")`); got != Len(s) {
			t.Fatalf("written length %d, Len says %d", got, Len(s))
		}
		nodes, err := Parse(string(text))
		if err != nil {
			t.Fatalf("cannot read back %s: %v", text, err)
		}
		if want := []Node{L("literal", Str(s))}; !reflect.DeepEqual(stripLines(nodes), want) {
			t.Fatalf("read back %+v", nodes)
		}
	})
}

// FuzzParse: whatever is read can be written and read again to the same.
func FuzzParse(f *testing.F) {
	f.Add("(version 1) ; x\n(deny default (with message \"a\\\\b\"))")
	f.Add("((()))")
	f.Add(`"a" 'b`)
	f.Fuzz(func(t *testing.T, src string) {
		nodes, err := Parse(src)
		if err != nil {
			return
		}
		var text []byte
		for _, n := range nodes {
			if text, err = Append(text, n); err != nil {
				t.Fatalf("cannot write what was read: %v", err)
			}
			text = append(text, '\n')
		}
		again, err := Parse(string(text))
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, text)
		}
		if !reflect.DeepEqual(stripLines(again), stripLines(nodes)) {
			t.Fatalf("%+v became %+v", nodes, again)
		}
	})
}

func stripLines(nodes []Node) []Node {
	var out []Node
	for _, n := range nodes {
		n.Line = 0
		n.List = stripLines(n.List)
		out = append(out, n)
	}
	return out
}
