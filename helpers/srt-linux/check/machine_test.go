package check

import "testing"

func TestCoveredProc(t *testing.T) {
	const root = "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / /proc rw - proc proc rw\n"
	for name, c := range map[string]struct{ table, want string }{
		"a machine":              {root + "3 2 0:3 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n4 3 0:4 / /proc/sys/fs/binfmt_misc rw - binfmt_misc b rw\n", ""},
		"a container":            {root + "3 2 0:3 /null /proc/kcore rw - tmpfs tmpfs rw\n4 2 0:2 /sys /proc/sys ro - proc proc rw\n", "/proc/kcore"},
		"another proc elsewhere": {root + "3 1 0:3 / /srv/proc rw - proc proc rw\n", ""},
		"no table":               {"", ""},
	} {
		if got := coveredProc(c.table); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
