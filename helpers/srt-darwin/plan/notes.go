package plan

import (
	"fmt"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
)

// notes are remarks for --debug: what in the request means something else on macOS, or nothing.
func notes(req wire.LaunchRequest, files *pathrule.Policy, dir string) []string {
	out := []string{}
	if files != nil {
		out = append(out, files.Notes()...)
		for _, g := range files.Globs() {
			out = append(out, fmt.Sprintf("denyWrite %q: a directory that is moved here as a whole may bring a match along", g.Rule))
		}
		if files.Hidden(dir) {
			out = append(out, fmt.Sprintf("the working directory %q is hidden by denyRead", dir))
		}
	}
	for _, e := range req.Command.Env {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "DYLD_") {
			out = append(out, name+" does not reach the command: macOS takes it away from the system's own programs, and sandbox-exec is one")
		}
	}
	if req.Process.AllowNestedUserNamespaces {
		out = append(out, "allowNestedUserNamespaces has no effect on macOS")
	}
	if req.Process.WeakerNested {
		out = append(out, "enableWeakerNestedSandbox has no effect on macOS")
	}
	return out
}
