package prove

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// resolver is made by the stage: Linux has none that is the same everywhere.
const resolver = ""

func environment(pid int) error {
	_, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err
}

func processes() error {
	_, err := os.ReadDir("/proc")
	return err
}

func swap(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
