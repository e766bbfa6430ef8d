package initd

import (
	"path"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/wire"
)

// A read-only mount is about files. A FIFO on it can be written to, and leads to whoever reads it outside. The supervisor refuses that in
// opens that may create a name; Landlock refuses it in all others, where the kernel has it: the command opens for writing only below what
// it may write. (What lies read-only inside that is the supervisor's alone.)

// restrictsPipes says whether the command's opens are restricted. Landlock forbids every mount, which allowNestedUserNamespaces is about,
// and renames between directories, which only a supervisor makes for the command.
func restrictsPipes(c *Config) bool {
	return !c.View.WritableRoot() && !c.Process.AllowNestedUserNamespaces && !c.Process.WeakerNested
}

// newRuleset gives a Landlock ruleset that lets nothing be opened for writing, or -1 where the kernel has no Landlock.
func newRuleset() int {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_WRITE_FILE}
	fd, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if e != 0 {
		return -1
	}
	return int(fd)
}

// allowWrites fills the ruleset. It is called once the view is finished, the nested /proc included. What cannot be opened now is not
// allowed; the standard streams stay what they are.
func allowWrites(ruleset int, c *Config) {
	if ruleset < 0 {
		return
	}
	allow := func(fd int) {
		attr := unix.LandlockPathBeneathAttr{Allowed_access: unix.LANDLOCK_ACCESS_FS_WRITE_FILE, Parent_fd: int32(fd)}
		unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	}
	below := func(p string) {
		fd, err := unix.Openat2(unix.AT_FDCWD, p, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
		if err == nil {
			allow(fd)
			unix.Close(fd)
		}
	}
	for _, p := range []string{"/dev", "/proc"} {
		below(p)
	}
	for _, t := range c.View.Write {
		below(t.Path)
	}
	for _, t := range c.View.CreateOnce {
		below(path.Dir(t.Path)) // it is not there yet
	}
	for fd := range 3 {
		allow(fd)
	}
	for _, fd := range c.Command.PassFDs {
		allow(fd + wire.PassOffset)
	}
}
