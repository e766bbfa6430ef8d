package sbpltest

import "strings"

// tree gives the operations that each wider operation stands for.
var tree = map[string]string{
	"default": "file* network* mach* process* signal sysctl* system* ipc* iokit* user-preference* appleevent-send" +
		" authorization-right-obtain device* distributed-notification-post dynamic-code-generation fs-quota* fs-snapshot*" +
		" job-creation lsopen nvram* pseudo-tty sandbox-check socket-ioctl syscall*",
	"file*": "file-chroot file-clone file-graft file-ioctl file-issue-extension file-link file-lock file-map-executable file-mknod" +
		" file-mount file-mount-update file-read* file-revoke file-search file-test-existence file-ungraft file-unmount file-write*" +
		" file-write-setugid",
	"file-read*": "file-read-data file-read-metadata file-read-xattr",
	"file-write*": "file-write-acl file-write-create file-write-data file-write-flags file-write-mode file-write-owner" +
		" file-write-times file-write-unlink file-write-xattr",
	"fs-snapshot*": "fs-snapshot-create fs-snapshot-delete fs-snapshot-mount fs-snapshot-revert",
	"iokit*":       "iokit-get-properties iokit-open iokit-set-properties",
	"ipc*":         "ipc-posix* ipc-sysv*",
	"ipc-posix*":   "ipc-posix-sem* ipc-posix-shm*",
	"ipc-posix-sem*": "ipc-posix-sem-create ipc-posix-sem-open ipc-posix-sem-post ipc-posix-sem-unlink" +
		" ipc-posix-sem-wait",
	"ipc-posix-shm*": "ipc-posix-shm-read-data ipc-posix-shm-write-create ipc-posix-shm-write-data ipc-posix-shm-write-unlink",
	"mach*":          "mach-cross-domain-lookup mach-host* mach-issue-extension mach-lookup mach-priv* mach-register mach-task-name",
	"mach-priv*":     "mach-priv-host-port mach-priv-task-port",
	"network*":       "network-bind network-inbound network-outbound",
	"process*":       "process-codesigning-status* process-exec* process-fork process-info*",
	"process-exec*":  "process-exec-interpreter",
	"process-info*": "process-info-codesignature process-info-dirtycontrol process-info-listpids process-info-pidfdinfo" +
		" process-info-pidfileportinfo process-info-pidinfo process-info-rusage process-info-setcontrol",
	"syscall*":         "syscall-mach syscall-mig syscall-unix",
	"sysctl*":          "sysctl-read sysctl-write",
	"system*":          "system-debug system-fcntl system-info system-privilege system-sched system-socket",
	"user-preference*": "user-preference-read user-preference-write",
}

// aliases are other names of an operation.
var aliases = map[string]string{
	"file-unlink":   "file-write-unlink",
	"ipc-posix-sem": "ipc-posix-sem*",
	"ipc-posix-shm": "ipc-posix-shm*",
	"process-exec":  "process-exec*",
}

// granted are the operations that "(version 1)" allows by itself, whatever "(deny default)" says. Only a rule for the very same name
// takes one back: a rule for a wider operation does not.
var granted = words("dynamic-code-generation file-clone file-graft file-link file-lock file-map-executable file-test-existence" +
	" file-ungraft fs-quota* fs-snapshot-mount iokit-get-properties nvram* process-info* sandbox-check syscall-mach syscall-mig" +
	" syscall-unix system-fcntl")

// absent are the operations that a release does not know: a rule that names one makes the whole profile invalid.
var absent = map[Release]map[string]bool{
	MacOS14: words("file-graft file-ungraft"),
	MacOS26: {},
}

// Release is a release of macOS, as far as profiles see it.
type Release int

// Releases that differ.
const (
	MacOS14 Release = iota // and 15
	MacOS26
)

// parents gives each operation the wider one it belongs to; "default" has none.
var parents = func() map[string]string {
	m := map[string]string{}
	for wide, narrow := range tree {
		for op := range words(narrow) {
			m[op] = wide
		}
	}
	return m
}()

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// operation finds the operation that a profile calls name.
func operation(name string, r Release) (string, bool) {
	if to, ok := aliases[name]; ok {
		name = to
	}
	if absent[r][name] {
		return "", false
	}
	_, ok := parents[name]
	return name, ok || name == "default"
}
