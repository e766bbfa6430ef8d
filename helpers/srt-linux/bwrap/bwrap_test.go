package bwrap

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// The steps stand in the order of their paths, so that what lies inside comes after what it lies in, and hidden directories are frozen last.
func TestMountsByBubblewrap(t *testing.T) {
	v := &view.View{
		Write:    []view.Target{{Path: "/w", Dir: true}, {Path: "/dev/shm", Dir: true}},
		Reopen:   []view.Target{{Path: "/home/me/src", Dir: true}},
		ReadOnly: []view.Target{{Path: "/w/.git/hooks", Dir: true}, {Path: "/w/link", Link: true}},
		Hide:     []view.Target{{Path: "/home", Dir: true}, {Path: "/w/.env"}, {Path: "/etc/shadow"}},
		Cwd:      "/w",
	}
	argv, blanks, err := ArgvMounts("/usr/bin/bwrap", "/srt-linux", 5, 4, v, []string{"/w/sys"})
	if err != nil {
		t.Fatal(err)
	}
	want := "/usr/bin/bwrap --unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --as-pid-1 --die-with-parent --cap-drop ALL" +
		" --ro-bind / / --proc /proc --dev /dev --tmpfs /dev/shm --perms 0755 --dir /dev/srt --perms 0700 --tmpfs /dev/srt/tmp" +
		" --ro-bind /srt-linux /dev/srt/connect --remount-ro /dev" +
		" --ro-bind-try /proc/sys /proc/sys --ro-bind-try /proc/sysrq-trigger /proc/sysrq-trigger --ro-bind-try /proc/irq /proc/irq" +
		" --ro-bind-try /proc/bus /proc/bus --ro-bind-try /proc/fs /proc/fs --ro-bind-try /proc/acpi /proc/acpi" +
		" --ro-bind-try /proc/scsi /proc/scsi --ro-bind-try /proc/pressure /proc/pressure --ro-bind /dev/null /proc/keys" +
		" --perms 0000 --ro-bind-data 400 /etc/shadow --perms 0111 --tmpfs /home --ro-bind /home/me/src /home/me/src" +
		" --bind /w /w --perms 0000 --ro-bind-data 401 /w/.env --ro-bind /w/.git/hooks /w/.git/hooks --ro-bind /w/sys /w/sys --remount-ro /home" +
		" --chdir /w -- /srt-linux init 5 4"
	if got := strings.Join(argv, " "); got != want {
		t.Errorf("command line\n%s\nwant\n%s", got, want)
	}
	if got := fmt.Sprint(blanks); got != "[{400 data []} {401 data []}]" {
		t.Errorf("empty files: %s", got)
	}
}

func TestMountsThatBubblewrapCannotMake(t *testing.T) {
	many := make([]view.Target, maxSteps+1)
	files := make([]view.Target, maxBlanks+1)
	for i := range many {
		many[i] = view.Target{Path: fmt.Sprintf("/w/%d", i), Dir: true}
	}
	for i := range files {
		files[i] = view.Target{Path: fmt.Sprintf("/w/%d", i)}
	}
	for text, v := range map[string]*view.View{
		`apply the file policy: denyRead of "/" needs mounts by the init`:            {Hide: []view.Target{{Path: "/", Dir: true}}},
		"apply the file policy: 2001 mounts, at most 2000 can be made by bubblewrap": {ReadOnly: many},
		"apply the file policy: more than 500 hidden files":                          {Hide: files},
	} {
		_, _, err := ArgvMounts("b", "s", 5, 4, v, nil)
		var f *wire.Fault
		if !errors.As(err, &f) || f.Error() != text || f.Code != wire.CodeUnsupported || f.Hint == "" {
			t.Errorf("%v, want %s", err, text)
		}
	}
}
