package escape

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
)

// TestTwoRuns: one run leaves something in its writable tree that makes the next one overlook what it should protect.
func TestTwoRuns(t *testing.T) {
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	const edit = `; for f in w/d/.git/config w/d/.bashrc w/d/pem; do dd if=w/mark of=$f conv=notrunc,nocreat 2>/dev/null && cat $f; done; cat w/d/secret; cat outside/f; cat linked/f`
	for name, first := range map[string]string{
		"a directory that cannot be listed":       "chmod 0311 w/d",
		"a directory that cannot be searched":     "chmod 0444 w/d",
		"a directory that is closed":              "chmod 0 w/d",
		"the tree itself":                         "chmod 0311 w",
		"a git directory that cannot be listed":   "chmod 0311 w/d/.git",
		"a git directory that cannot be searched": "chmod 0444 w/d/.git",
		"a bare repository around it":             "mkdir w/d/objects w/d/refs; : > w/d/HEAD",
		"a link to what is denied replaced":       "rm w/link; ln -s . w/link",
		"a link where something may be read":      "ln -s ../outside w/pub",
	} {
		t.Run(name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []string{"w/d/.git/hooks", "w/d/.git/objects", "w/d/.git/refs", "outside", "linked"} {
				if err := os.MkdirAll(filepath.Join(base, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for f, text := range map[string]string{"w/d/.git/HEAD": "ref: refs/heads/main\n", "w/d/.git/config": "[core]\n\tbare = false\n", "w/d/.bashrc": "# nothing\n", "w/d/pem": "a key\n",
				"w/mark": "through\n", "w/d/secret": "through\n", "outside/f": "through\n", "linked/f": "through\n"} {
				write(t, filepath.Join(base, f), text)
			}
			if err := os.Symlink("../linked", base+"/w/link"); err != nil {
				t.Fatal(err)
			}
			settings := filepath.Join(t.TempDir(), "settings.json")
			write(t, settings, `{"filesystem":{"allowWrite":["w"],"denyWrite":["w/d/pem"],"denyRead":["**/secret","outside","w/link"],"allowRead":["w/pub"]}}`)
			var out []byte
			for _, script := range []string{first, "chmod u+rwx w w/d w/d/.git" + edit} {
				cmd := exec.CommandContext(t.Context(), srt, "--settings", settings, "-c", script)
				cmd.Dir = base
				out, _ = cmd.CombinedOutput() // the attack fails
			}
			if strings.Contains(string(out), "through") {
				t.Errorf("GOT THROUGH: %s", out)
			}
			_ = exec.Command("chmod", "-R", "u+rwx", base).Run()
		})
	}
}
