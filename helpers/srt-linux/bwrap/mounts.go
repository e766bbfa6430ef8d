// Package bwrap writes the bubblewrap command line of a sandbox whose mounts bubblewrap makes. It is pure: it must never look at the
// machine. The line of every other sandbox is core/entry's.
package bwrap

import (
	"fmt"
	"strconv"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// Where a security module takes every capability from bwrap's children (Ubuntu's AppArmor label), the init can mount nothing, and bwrap
// makes the mounts as arguments. That costs: its mounting is quadratic, targets are paths, a link itself cannot be covered, what does not
// exist cannot be made writable later, and a protected file that the host replaces stays uncovered. srt says so (MountsNote), and the init
// checks what came of the paths (mounts.Foreign).

// MountsNote is what srt tells the user about this mode.
const MountsNote = "bubblewrap makes the mounts here, because its children may not (srt doctor says what to do): " +
	"a protected or hidden file that something outside replaces while the command runs is open to it, and it can remove protected symbolic links"

// CannotMake names the allowWrite paths that do not exist: only the init could make a single one writable later.
func CannotMake(v *view.View) []string {
	var lines []string
	for _, t := range v.CreateOnce {
		lines = append(lines, fmt.Sprintf("allowWrite %q: it does not exist, and where bubblewrap makes the mounts the command cannot make it: create it before", t.Path))
	}
	return lines
}

const (
	firstBlank = 400 // descriptors of empty files that cover hidden files, one each
	maxBlanks  = 500
	maxSteps   = 2000 // bwrap's mounting is quadratic and it takes at most 9,000 arguments
)

// ArgvMounts is entry.Argv for a sandbox whose mounts bwrap makes, with the descriptors that it reads empty files from. It refuses a view
// that cannot be made this way. kernel are the kernel file systems in its writable trees, which are made read-only. The error is a *wire.Fault.
func ArgvMounts(bwrap, self string, configFD, controlFD int, v *view.View, kernel []string) ([]string, []wire.Descriptor, error) {
	argv := []string{bwrap, "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
		"--as-pid-1", "--die-with-parent", "--cap-drop", "ALL"}
	root := "--ro-bind"
	if v.WritableRoot() {
		root = "--bind"
	}
	argv = append(argv, root, "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm",
		"--perms", "0755", "--dir", "/dev/srt", "--perms", "0700", "--tmpfs", wire.LinuxTmpDir, "--ro-bind", self, wire.LinuxRelay,
		"--remount-ro", "/dev")
	for _, part := range view.ProcParts {
		argv = append(argv, "--ro-bind-try", "/proc/"+part, "/proc/"+part)
	}
	for _, name := range view.ProcHidden {
		argv = append(argv, "--ro-bind", "/dev/null", "/proc/"+name)
	}
	var steps []view.Step
	for _, t := range v.HiddenProc() {
		steps = append(steps, view.Step{Target: &t, Kind: view.KindHide})
	}
	steps = append(steps, v.Steps()...)
	if len(steps) > maxSteps {
		return nil, nil, refuse(fmt.Sprintf("%d mounts, at most %d can be made by bubblewrap", len(steps), maxSteps))
	}
	var blanks []wire.Descriptor
	var freeze []string
	for _, s := range steps {
		switch {
		case s.Path == "/" && s.Kind == view.KindHide:
			return nil, nil, refuse(`denyRead of "/" needs mounts by the init`)
		case s.Path == "/" || s.Link:
		case s.Kind == view.KindWrite:
			argv = append(argv, "--bind", s.Path, s.Path)
		case s.Kind == view.KindReopen || s.Kind == view.KindReadOnly:
			argv = append(argv, "--ro-bind", s.Path, s.Path)
		case s.Dir:
			argv = append(argv, "--perms", "0111", "--tmpfs", s.Path)
			freeze = append(freeze, "--remount-ro", s.Path)
		default:
			fd := firstBlank + len(blanks)
			if len(blanks) == maxBlanks {
				return nil, nil, refuse(fmt.Sprintf("more than %d hidden files", maxBlanks))
			}
			blanks = append(blanks, wire.Descriptor{Number: fd, Kind: wire.FDData})
			argv = append(argv, "--perms", "0000", "--ro-bind-data", strconv.Itoa(fd), s.Path)
		}
	}
	for _, k := range kernel {
		argv = append(argv, "--ro-bind", k, k)
	}
	argv = append(argv, freeze...)
	return append(argv, "--chdir", v.Cwd, "--", self, "init", strconv.Itoa(configFD), strconv.Itoa(controlFD)), blanks, nil
}

func refuse(detail string) error {
	return &wire.Fault{Code: wire.CodeUnsupported, Op: "apply the file policy", Detail: detail,
		Hint: "let bubblewrap's children mount (srt doctor names what forbids it), or deny whole directories instead of single files"}
}
