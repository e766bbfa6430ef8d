//go:build linux || darwin

package oneshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
)

func TestFind(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(dir, binary string) error
		want  string // part of the error; "" is success
	}{
		"as the build leaves it":  {func(string, string) error { return nil }, ""},
		"set-uid":                 {func(_, b string) error { return os.Chmod(b, 0o755|os.ModeSetuid) }, ": set-uid or set-gid"},
		"set-gid":                 {func(_, b string) error { return os.Chmod(b, 0o755|os.ModeSetgid) }, ": set-uid or set-gid"},
		"writable by the group":   {func(_, b string) error { return os.Chmod(b, 0o775) }, ": others may write to it"},
		"writable by all":         {func(_, b string) error { return os.Chmod(b, 0o757) }, ": others may write to it"},
		"in a writable directory": {func(d, _ string) error { return os.Chmod(d, 0o777) }, ": others may write to it"},
		"not executable":          {func(_, b string) error { return os.Chmod(b, 0o644) }, ": not executable"},
		"not there":               {func(_, b string) error { return os.Remove(b) }, ": no such file or directory"},
		"a link": {func(_, b string) error {
			if err := os.Remove(b); err != nil {
				return err
			}
			return os.Symlink("/bin/true", b)
		}, ": not a plain file"},
		"a link as the directory": {func(d, _ string) error {
			if err := os.Rename(d, d+".real"); err != nil {
				return err
			}
			return os.Symlink(d+".real", d)
		}, ": not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "libexec", "srt")
			binary := filepath.Join(dir, "helper")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(binary, nil, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := tc.spoil(dir, binary); err != nil {
				t.Fatal(err)
			}
			got, err := findFrom(filepath.Join(root, "bin", "srt"), "helper")
			switch {
			case tc.want == "" && (err != nil || got != binary):
				t.Errorf("got %q, %v", got, err)
			case tc.want != "" && (err == nil || !strings.HasSuffix(err.Error(), tc.want)):
				t.Errorf("got %q, %v, want an error that ends in %q", got, err, tc.want)
			}
		})
	}
}

func TestFindRefusesOtherNames(t *testing.T) {
	for _, name := range []string{"../evil", "/bin/true", "a/b"} {
		if got, err := findFrom("/opt/srt/bin/srt", name); err == nil {
			t.Errorf("%q: found %q", name, got)
		}
	}
	if got, err := findFrom("bin/srt", "helper"); err == nil {
		t.Errorf("a relative place: found %q", got)
	}
}

func TestFindRefusesAnothersBinary(t *testing.T) {
	srttest.RequireRoot(t)
	root := t.TempDir()
	dir := filepath.Join(root, "libexec", "srt")
	binary := filepath.Join(dir, "helper")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(binary, 12345, 0); err != nil {
		t.Fatal(err)
	}
	_, err := findFrom(filepath.Join(root, "bin", "srt"), "helper")
	if err == nil || !strings.HasSuffix(err.Error(), ": belongs to user 12345, who is neither root nor you") {
		t.Errorf("got %v", err)
	}
}
