package initd

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

func TestLookupFindsWhatExecvpWouldRun(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"first/tool": 0o644, "second/tool": 0o755, "first/plain": 0o644} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "second", "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "second"))
	both := "PATH=" + dir + "/first:" + dir + "/second"
	for name, c := range map[string]struct{ name, env, path, code, text string }{
		"the first executable on PATH, not the first of that name": {"tool", both, dir + "/second/tool", "", ""},
		"an empty element means the working directory":             {"tool", "PATH=" + dir + "/nothing:", "./tool", "", ""},
		"a name with a slash is not looked for":                    {"./tool", "PATH=", "./tool", "", ""},
		"a system program without any PATH":                        {"sh", "OTHER=1", "/usr/bin/sh", "", ""},
		"nothing of that name":                                     {"none", both, "", wire.CodeNotFound, `run "none": command not found`},
		"an empty name":                                            {"", both, "", wire.CodeNotFound, `run: command not found`},
		"only a file that is not executable":                       {"plain", both, "", wire.CodeNotExec, `run "` + dir + `/first/plain": permission denied`},
		"a directory":                                              {"./folder", both, "", wire.CodeNotExec, `run "./folder": is a directory`},
		"a path below a file":                                      {"./tool/x", both, "", wire.CodeNotFound, `run "./tool/x": command not found`},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := lookup(c.name, []string{"A=b", c.env})
			var f *wire.Fault
			if c.code != "" {
				if !errors.As(err, &f) || f.Code != c.code || f.Error() != c.text {
					t.Errorf("%q, %v; want %s: %s", path, err, c.code, c.text)
				}
				return
			}
			if err != nil || path != c.path {
				t.Errorf("%q, %v; want %q", path, err, c.path)
			}
		})
	}
}
