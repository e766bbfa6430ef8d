package fileplan

import (
	"os"
	"strings"
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

func parseMountinfo(table string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(table, "\n") {
		// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
		before, after, ok := strings.Cut(line, " - ")
		if !ok {
			continue
		}
		fields := strings.SplitN(before, " ", 6)
		typ, _, _ := strings.Cut(after, " ")
		if len(fields) < 5 {
			continue
		}
		if point := unescapeMount(fields[4]); skippedTypes[typ] {
			out[point] = typ
		} else {
			delete(out, point) // mounted over
		}
	}
	return out
}

// unescapeMount undoes the kernel's \ooo for blanks and backslashes.
func unescapeMount(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, ok := octal(s[i+1 : i+4]); ok {
				b.WriteByte(n)
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func octal(s string) (byte, bool) {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '7' {
			return 0, false
		}
		n = n*8 + int(c-'0')
	}
	return byte(n), n < 256
}
