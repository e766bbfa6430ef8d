package prove

import (
	"os"
	"strconv"
)

func environment(pid int) error {
	_, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err
}
