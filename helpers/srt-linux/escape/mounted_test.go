package escape

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
)

// TestASecondMount: the host shows one tree at two paths. What is denied at one is denied at the other, whether it is there or not.
func TestASecondMount(t *testing.T) {
	srttest.RequireRoot(t) // to mount
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	for name, c := range map[string]struct {
		mounts   string // what the host mounts, in the base directory
		settings string
		attack   string // prints "through" for each success
	}{
		"read the whole": {"mount --bind a b", `{"filesystem":{"denyRead":["a/secret","a/dir"]}}`,
			`cat b/secret; cat b/dir/secret; ls b/dir`},
		"read a part": {"mount --bind a/dir b", `{"filesystem":{"denyRead":["a"]}}`, `cat b/secret`},
		"read a file": {"touch file; mount --bind a/secret file", `{"filesystem":{"denyRead":["a/secret"]}}`, `cat file`},
		"read by a pattern": {"mount --bind a b", `{"filesystem":{"denyRead":["a/**/secret"]}}`,
			`cat b/secret; cat b/dir/secret`},
		"write the whole": {"mount --bind a b", `{"filesystem":{"allowWrite":["."],"denyWrite":["a/dir","a/secret","a/missing"]}}`,
			`echo through >> b/secret && cat a/secret; : > b/dir/new && echo through; mkdir b/missing && echo through; mv b/dir b/gone && echo through; ln -s /tmp b/missing && echo through`},
		"write a part": {"mount --bind a/dir b", `{"filesystem":{"allowWrite":["."],"denyWrite":["a"]}}`,
			`echo through >> b/secret && cat a/dir/secret; : > b/new && echo through`},
		"write inside itself": {"mount --bind a a/again", `{"filesystem":{"allowWrite":["."],"denyWrite":["a/dir","a/**/*.pem"]}}`,
			`: > a/again/dir/new && echo through; : > a/again/new.pem && echo through`},
		"protected names": {"mount --bind a b; git init -q a", `{"filesystem":{"allowWrite":["."]}}`,
			`: > b/.git/hooks/pre-commit && echo through; echo >> b/.git/config && echo through; : > b/.git/commondir && echo through; mv b/.git b/git && echo through`},
		"a part of a protected name": {"mkdir a/.claude; mount --bind a/.claude b", `{"filesystem":{"allowWrite":["."]}}`,
			`mkdir b/commands && echo through; : > b/settings.json && echo through`},
	} {
		t.Run(name, func(t *testing.T) {
			for sandboxed, want := range map[bool]bool{true: false, false: true} {
				base, err := filepath.EvalSymlinks(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range []string{"a/dir", "a/again", "b"} {
					if err := os.MkdirAll(filepath.Join(base, d), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				write(t, base+"/a/secret", "through\n")
				write(t, base+"/a/dir/secret", "through\n")
				settings := filepath.Join(t.TempDir(), "settings.json")
				write(t, settings, c.settings)
				script := c.mounts + "; exec sh -c '" + c.attack + "'"
				if sandboxed {
					script = c.mounts + "; exec " + srt + " --settings " + settings + " -c '" + c.attack + "'"
				}
				cmd := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", script)
				cmd.Dir = base
				out, err := cmd.CombinedOutput()
				if got := strings.Contains(string(out), "through\n"); got != want || strings.Contains(string(out), "srt: error") {
					t.Errorf("sandboxed %t: through %t (%v)\n%s", sandboxed, got, err, out)
				}
			}
		})
	}
}
