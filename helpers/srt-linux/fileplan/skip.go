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

// skippedMounts gives the mount points, with their types, that are not searched. An unreadable table skips nothing.
func skippedMounts() map[string]string {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseMountinfo(string(table))
}

// parseMountinfo stops at a line that it does not understand: what is not skipped is searched.
func parseMountinfo(table string) map[string]string {
	out := map[string]string{}
	for m, err := range mountinfo.All(table) {
		switch {
		case err != nil:
			return out
		case skippedTypes[m.Type]:
			out[m.Point] = m.Type
		default:
			delete(out, m.Point) // mounted over
		}
	}
	return out
}
