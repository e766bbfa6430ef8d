package conform

import (
	"slices"
	"strings"
	"testing"
)

// The table asks both systems something of every operation, and of each what is allowed and what is refused.
func TestTable(t *testing.T) {
	cases, err := Cases(Place{Base: "/b"})
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for _, c := range cases {
		if (len(c.Questions) == 0) == (c.Error == "") {
			t.Errorf("%s: asks nothing, or asks of what does not run", c.Name)
		}
		for _, q := range c.Questions {
			for _, goos := range []string{"linux", "darwin"} {
				if q.Allowed(goos) {
					asked[goos+" allows "+q.Op]++
				} else {
					asked[goos+" refuses "+q.Op]++
				}
			}
			if strings.Contains(q.String(), "$") {
				t.Errorf("%s: %v: an unknown place", c.Name, q)
			}
		}
		if _, err := c.Request("linux", Place{Base: "/b"}, []string{"x"}, nil, "127.0.0.1:1"); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	for op := range Operations {
		for _, want := range []string{"linux allows ", "linux refuses ", "darwin allows ", "darwin refuses "} {
			never := []string{"linux refuses bind", "linux refuses serve", "darwin allows link"}
			if asked[want+op] == 0 && !slices.Contains(never, want+op) {
				t.Errorf("nothing in the table %s%s", want, op)
			}
		}
	}
}

func TestBrokenTables(t *testing.T) {
	whole := table
	defer func() { table = whole }()
	for text, want := range map[string]string{
		"yes read /x":                  "line 1: stands before the first case",
		"case a\ncase a":               `line 2: "a" is there twice`,
		"case a\nmaybe read /x":        `line 2: "maybe" "read /x" is not a question`,
		"case a\nyes rename /x":        `line 2: "yes" "rename /x" is not a question`,
		"case a\nyes":                  `line 2: "yes" "" is not a question`,
		"# a\n\ncase a\nno jump /x /y": `line 4: "no" "jump /x /y" is not a question`,
	} {
		table = text
		if _, err := Cases(Place{}); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
