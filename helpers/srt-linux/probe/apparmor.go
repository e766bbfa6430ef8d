package probe

import (
	"strings"

	"github.com/srt-dev/srt/core/wire"
)

// NoNamespaces is the fault of a machine where AppArmor keeps bubblewrap, at path, from making a sandbox. said is what it wrote.
func NoNamespaces(path, said string) *wire.Fault {
	return &wire.Fault{Code: wire.CodeUnsupported, Op: "start the sandbox",
		Detail: "AppArmor lets bubblewrap make no namespaces here (kernel.apparmor_restrict_unprivileged_userns = 1, and no profile for " + path + "): " + said,
		Hint:   "give it a profile: " + profile(path) + "; or " + lift}
}

// Refused says whether the kernel refused something that bubblewrap may do where namespaces are allowed. said is what it wrote.
func Refused(said string) bool {
	return said == "" || strings.Contains(said, "Permission denied") || strings.Contains(said, "Operation not permitted")
}

const lift = "lift the restriction for every program: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"

// profile is the command that lets bubblewrap, and what it starts, use user namespaces under Ubuntu's AppArmor restriction.
func profile(path string) string {
	const file = "/etc/apparmor.d/bwrap"
	return `printf 'abi <abi/4.0>,\ninclude <tunables/global>\nprofile bwrap ` + path + ` flags=(unconfined) {\n  userns,\n}\n' | sudo tee ` + file +
		" && sudo apparmor_parser -r " + file
}

// LetInitMount is how to let what bubblewrap starts make mounts, where it may make namespaces only.
func LetInitMount(path string) string {
	const restrict = "/etc/apparmor.d/bwrap-userns-restrict"
	return "put a profile that permits it in the place of bwrap-userns-restrict: sudo ln -s " + restrict + " /etc/apparmor.d/disable/ && sudo apparmor_parser -R " +
		restrict + " && " + profile(path) + "; or " + lift
}
