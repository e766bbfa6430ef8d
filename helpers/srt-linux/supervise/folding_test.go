package supervise

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestFolding(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"case of ASCII letters":              {".VSCode", ".vscode", true},
		"an ignorable code point":            {".vs\u200ccode", ".vscode", true},
		"a variation selector":               {".vscode\ufe0f", ".vscode", true},
		"a ligature":                         {"con\ufb01g", "config", true},
		"a sharp s":                          {"pa\u00dfword", "password", true},
		"the Kelvin sign":                    {"hoo\u212as", "hooks", true},
		"the long s":                         {"hook\u017f", "hooks", true},
		"case of other letters":              {"ÄRGER", "ärger", true},
		"final sigma":                        {"ΣΑΣ", "σας", true},
		"another letter":                     {"hooks", "hoaks", false},
		"a letter that looks like another":   {"hооks", "hooks", false}, // Cyrillic о
		"a combining mark counts as ignored": {"hooks\u0301", "hooks", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := foldString(c.a) == foldString(c.b); got != c.same {
				t.Errorf("%q and %q: same is %v, want %v", foldString(c.a), foldString(c.b), got, c.same)
			}
			if got, want := string(foldInto(nil, []byte(c.a))), foldString(c.a); got != want {
				t.Errorf("the two ways to fold %q differ: %q, %q", c.a, got, want)
			}
		})
	}
}

func TestFoldingDirectories(t *testing.T) {
	for path, want := range map[string]bool{t.TempDir(): false, "/proc": false, "/dev/shm": false, "/sys": true} {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Skip(err)
		}
		if got := foldsFd(fd); got != want {
			t.Errorf("%s folds: %v, want %v", path, got, want)
		}
		unix.Close(fd)
	}
}

func FuzzFolding(f *testing.F) {
	for _, s := range []string{".git", "HOOKS", "con\ufb01g", "\xff\xfe", "ß\u200d", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := foldString(s)
		if twice := foldString(once); twice != once {
			t.Errorf("%q folds to %q and then to %q", s, once, twice)
		}
		if got := string(foldInto(nil, []byte(s))); got != once {
			t.Errorf("foldInto(%q) is %q, want %q", s, got, once)
		}
	})
}
