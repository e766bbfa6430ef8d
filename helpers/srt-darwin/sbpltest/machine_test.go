package sbpltest

import (
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
)

func TestMachine(t *testing.T) {
	fs := memfs.New("/tmp -> private/tmp", "/private/tmp/f", "/Users/u/d/f", "/Users/u/l -> d", "/Users/u/a -> b", "/Users/u/b -> a", "/Users/u/s/f")
	base := `(allow file-read* file-write* process-exec*) (deny file-link) `
	for name, c := range map[string]struct {
		rules string
		do    func(m Machine) error
		err   string
	}{
		"a path is judged by where it leads": {`(deny file-read* (subpath "/Users/u/d"))`,
			func(m Machine) error { return m.Do(pathrule.OpRead, "/Users/u/l/f") }, "file-read-data /Users/u/d/f denied by line 3"},
		"a rule on the link's own name is none on where it leads": {`(deny file-read-data (subpath "/Users/u/l"))`,
			func(m Machine) error { return m.Do(pathrule.OpRead, "/Users/u/l/f") }, ""},
		"a link on the way must be readable itself": {`(deny file-read* (literal "/tmp"))`,
			func(m Machine) error { return m.Do(pathrule.OpRead, "/tmp/f") }, "file-read-metadata /tmp denied by line 3"},
		"the data volume is not seen": {`(deny file-read* (subpath "/Users/u/d"))`,
			func(m Machine) error { return m.Do(pathrule.OpRead, "/System/Volumes/Data/Users/u/d/f") }, "file-read-data /Users/u/d/f denied by line 3"},
		"links in a circle": {"",
			func(m Machine) error { return m.Do(pathrule.OpRead, "/Users/u/a") }, `"/Users/u/a": too many links`},
		"through a file": {"",
			func(m Machine) error { return m.Do(pathrule.OpRead, "/Users/u/d/f/x") }, `"/Users/u/d/f" is not a directory`},
		"into what is not there": {"",
			func(m Machine) error { return m.Do(pathrule.OpCreate, "/Users/u/none/x") }, `"/Users/u/none" does not exist`},
		"an existence test may be denied before the look-up": {`(deny file-test-existence (subpath "/Users/u/s"))`,
			func(m Machine) error { return m.Do(pathrule.OpRead, "/Users/u/s/f") }, "file-test-existence /Users/u/s denied by line 3"},
		"creating asks about the new name": {`(deny file-write-create (literal "/Users/u/d/new"))`,
			func(m Machine) error { return m.Do(pathrule.OpCreate, "/Users/u/l/new") }, "file-write-create /Users/u/d/new denied by line 3"},
		"creating what is there is writing": {`(deny file-write-create)`,
			func(m Machine) error { return m.Do(pathrule.OpCreate, "/Users/u/l/f") }, ""},
		"a rename takes the old name away": {`(deny file-write-unlink (literal "/Users/u/d/f"))`,
			func(m Machine) error { return m.DoPair(pathrule.OpRename, "/Users/u/d/f", "/Users/u/g") }, "file-write-unlink /Users/u/d/f denied by line 3"},
		"and makes the new one, of the old one's kind": {`(deny file-write-create (require-all (literal "/Users/u/g") (vnode-type DIRECTORY)))`,
			func(m Machine) error { return m.DoPair(pathrule.OpRename, "/Users/u/d", "/Users/u/g") }, "file-write-create /Users/u/g denied by line 3"},
		"and does not follow a link": {`(deny file-write-unlink (literal "/Users/u/d"))`,
			func(m Machine) error { return m.DoPair(pathrule.OpRename, "/Users/u/l", "/Users/u/g") }, ""},
		"a hard link is an operation of its own": {"",
			func(m Machine) error { return m.DoPair(pathrule.OpLink, "/Users/u/d/f", "/Users/u/g") }, "file-link /Users/u/d/f denied by line 2"},
		"a clone is judged by its source": {`(deny file-clone (vnode-type DIRECTORY))`,
			func(m Machine) error { return m.Clone("/Users/u/d", "/Users/u/g") }, "file-clone /Users/u/d denied by line 3"},
		"and by its target": {`(deny file-write-create)`,
			func(m Machine) error { return m.Clone("/Users/u/d/f", "/Users/u/g") }, "file-write-create /Users/u/g denied by line 3"},
		"a mode is changed where the link leads": {`(deny file-write* (literal "/Users/u/d"))`,
			func(m Machine) error { return m.Do(pathrule.OpChmod, "/Users/u/l") }, "file-write-mode /Users/u/d denied by line 3"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Load("(version 1) (deny default)\n"+base+"\n"+c.rules, MacOS26)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range Orders() {
				got := ""
				if err := c.do(Machine{Profile: p, Order: o, FS: fs}); err != nil {
					got = err.Error()
				}
				if got != c.err {
					t.Errorf("%v: got %q, want %q", o, got, c.err)
				}
			}
		})
	}
}
