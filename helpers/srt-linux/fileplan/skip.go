package fileplan

import (
	"os"

	"github.com/srt-dev/srt/helpers/srt-linux/mountinfo"
)

// skippedTypes are file systems with nothing of the user's in them, or where looking has effects. All others are searched like the
// tree that they are mounted in: what is writable is writable there too.
var skippedTypes = map[string]bool{
	"autofs":      true, // listing it mounts things
	"proc":        true,
	"sysfs":       true,
	"cgroup":      true,
	"cgroup2":     true,
	"devpts":      true,
	"devtmpfs":    true,
	"debugfs":     true,
	"tracefs":     true,
	"securityfs":  true,
	"configfs":    true,
	"selinuxfs":   true,
	"smackfs":     true,
	"bpf":         true,
	"pstore":      true,
	"efivarfs":    true,
	"binfmt_misc": true,
	"hugetlbfs":   true,
	"mqueue":      true,
	"resctrl":     true,
	"fusectl":     true,
	"nsfs":        true,
}

// mountTable is what the planner needs to know of the mounts.
type mountTable struct {
	skip   map[string]string // mount points that are not searched, and their types
	mounts []mountinfo.Mount // all, when some of them show the same files; see elsewhere.go
}

// readTable reads the table of mounts. One that cannot be read skips nothing.
func readTable() mountTable {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return mountTable{}
	}
	return parseTable(string(text))
}

// parseTable stops at a line that it does not understand: what is not skipped is searched.
func parseTable(text string) mountTable {
	t := mountTable{skip: map[string]string{}}
	for m, err := range mountinfo.All(text) {
		if err != nil {
			break
		}
		t.mounts = append(t.mounts, m)
		if skippedTypes[m.Type] {
			t.skip[m.Point] = m.Type
		} else {
			delete(t.skip, m.Point) // mounted over
		}
	}
	if !overlap(t.mounts) {
		t.mounts = nil
	}
	return t
}
