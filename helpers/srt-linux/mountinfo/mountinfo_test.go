package mountinfo

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMounts(t *testing.T) {
	table := `36 35 98:0 / /mnt1 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
37 35 0:5 / /a\040b\011c\134d ro - proc proc rw
38 35 0:6 /s\040ub /no\04escape\ ro,nosuid shared:1 master:2 propagate_from:3 - fuse.x with\040blank rw
39 35 0:7 / /romance romantic - tmpfs none rw
`
	var got []Mount
	for m, err := range All(table) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
	}
	want := []Mount{{36, "98:0", "/", "/mnt1", "ext3", false}, {37, "0:5", "/", "/a b\tc\\d", "proc", true},
		{38, "0:6", "/s ub", `/no\04escape\`, "fuse.x", true}, {39, "0:7", "/", "/romance", "tmpfs", false}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestLineThatIsNone(t *testing.T) {
	good := "36 35 98:0 / /mnt1 rw - ext3 /dev/root rw\n"
	for name, bad := range map[string]string{"empty": "\n", "no dash": "36 35 98:0 / /mnt1 rw ext3 /dev/root rw\n", "too short": "36 35 98:0 / - ext3 x rw\n",
		"no type": "36 35 98:0 / /mnt1 rw - \n", "no number": "x 35 98:0 / /mnt1 rw - ext3 x rw\n"} {
		n := 0
		var last error
		for _, err := range All(good + bad + good) {
			n++
			last = err
		}
		if n != 2 || last == nil || !strings.Contains(last.Error(), "in the table of mounts") {
			t.Errorf("%s: %d answers, %v", name, n, last)
		}
	}
}

func TestTheTableOfThisMachine(t *testing.T) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	root := false
	for m, err := range All(string(table)) {
		if err != nil {
			t.Fatal(err)
		}
		root = root || m.Point == "/"
	}
	if !root {
		t.Errorf("nothing is mounted on / in\n%s", table)
	}
}

func FuzzMounts(f *testing.F) {
	f.Add(`37 35 0:5 / /a\040b ro - proc proc rw`)
	f.Add(`37 35 0:5 / /a\400\8 ro x - - y`)
	f.Fuzz(func(t *testing.T, line string) {
		m, ok := parse(line)
		if ok && len(m.Point) > len(line) {
			t.Errorf("%q became longer: %q", line, m.Point)
		}
	})
}
