package runas

import (
	"fmt"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/acl"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Half chooses the identifier that names the command's own objects in the first half of an access check: the logon SID that only this
// start has. Windows may put the user's own logon SID into the account's token as well; where there is no other, it is the account, and
// other runs' commands can then read (not write) what this one's processes hold.
func Half(own, callers []sd.SID, account sd.SID) sd.SID {
	for _, s := range own {
		if !slices.Contains(callers, s) {
			return s
		}
	}
	return account
}

// Token plans the command's token. half is from Half, run the run's own identifier, callers the logon SIDs of the user's session, which
// open the user's window station and are of no use to a command.
func Token(half, run sd.SID, roots, callers []sd.SID) winapi.TokenSpec {
	t := winapi.TokenSpec{Flags: limits.TokenFlags, Disable: callers}
	t.Restricting = append(t.Restricting, run) // the run's own folder, and the command's own processes, pipes and desktop
	t.Restricting = append(t.Restricting, limits.Restricting...)
	t.Restricting = append(t.Restricting, roots...)
	// What the command makes without a list of its own is for itself and for the system; without both halves it could not open it again.
	t.DefaultDACL = []sd.ACE{
		{Mask: limits.TokenDefaultAll, SID: sd.LocalSystem},
		{Mask: limits.TokenDefaultAll, SID: half},
		{Mask: limits.TokenDefaultAll, SID: run},
	}
	return t
}

// CheckToken says how a token that was read back differs from the plan; "" when it does not. Under a system that only pretends to
// restrict tokens it always differs.
func CheckToken(want winapi.TokenSpec, have winapi.TokenFacts, account, group sd.SID) string {
	switch {
	case have.User != account:
		return fmt.Sprintf("it belongs to %s, not to the sandbox account %s", have.User, account)
	case !have.WriteRestricted:
		return "it is not write-restricted"
	case !sameSIDs(have.Restricting, want.Restricting):
		return fmt.Sprintf("its restricting identifiers are %v, asked for %v", have.Restricting, want.Restricting)
	case len(have.Privileges) > 1 || len(have.Privileges) == 1 && have.Privileges[0] != limits.KeptPrivilege:
		return fmt.Sprintf("it has the privileges %v", have.Privileges)
	}
	for _, g := range have.Groups {
		if slices.Contains(limits.Powerful, g) || slices.Contains(want.Disable, g) || madeHere(g, account) && g != account && g != group && g != account.Beside(limits.NoGroup) {
			return fmt.Sprintf("it is a member of %s", g)
		}
	}
	for _, r := range have.Restricting {
		if r == account {
			return "the account itself is among its restricting identifiers"
		}
	}
	return ""
}

// madeHere says whether somebody made the group on the machine that the account is of. What its members may do nobody knows: those of one
// that a container engine makes can have every file of the machine.
func madeHere(group, account sd.SID) bool {
	return group.Account() && group.Beside(limits.NoGroup) == account.Beside(limits.NoGroup)
}

func sameSIDs(a, b []sd.SID) bool {
	seen := map[sd.SID]int{}
	for _, s := range a {
		seen[s]++
	}
	for _, s := range b {
		seen[s]--
	}
	for _, n := range seen {
		if n != 0 {
			return false
		}
	}
	return true
}

// Job is the job of every run.
func Job() winapi.JobSpec { return winapi.JobSpec{Limits: limits.JobLimits, UI: limits.JobUI} }

// CheckJob says how a job that was read back differs; "" when it does not.
func CheckJob(have winapi.JobSpec) string {
	want := Job()
	switch {
	case have.Limits&(limits.JobBreakaway|limits.JobSilentBreak) != 0:
		return "a process may leave it"
	case have.Limits&want.Limits != want.Limits:
		return fmt.Sprintf("its limits are 0x%x, asked for 0x%x", have.Limits, want.Limits)
	case have.UI != want.UI:
		return fmt.Sprintf("its window limits are 0x%x, asked for 0x%x", have.UI, want.UI)
	}
	return ""
}

// PipeSecurity lets the user and the account talk over the pipe between exec and runner, and nobody else. The command runs under the
// account too, but has not the right: writing also asks its restricting SIDs.
func PipeSecurity(user, account sd.SID) sd.Descriptor {
	return sd.Descriptor{Owner: user, Protected: true, DACL: []sd.ACE{
		{Mask: limits.PipeAll, SID: user},
		{Mask: limits.PipeConnect, SID: account},
	}}
}

// StationSecurity is that of the window station that all runs of this user's session share in place of the user's own, where a command
// could read the clipboard and type. Nobody has RESTRICTED in the first half of a check, so only user and account are let in.
func StationSecurity(user, account sd.SID) sd.Descriptor {
	return windowSecurity(user, account, sd.Restricted, limits.StationAll)
}

// DesktopSecurity is that of the run's own desktop on it.
func DesktopSecurity(user, account, run sd.SID) sd.Descriptor {
	return windowSecurity(user, account, run, limits.DesktopAll)
}

func windowSecurity(user, account, second sd.SID, all uint32) sd.Descriptor {
	return sd.Descriptor{Owner: user, Protected: true, DACL: []sd.ACE{
		{Mask: all, SID: user},
		{Mask: all, SID: account},
		{Mask: all, SID: second}, // the second half of the check, for the command's restricted token
	}}
}

// RunnerSecurity is what the runner puts on its own process before it does anything else: the command runs under the same account, and
// the runner's token is not restricted.
func RunnerSecurity(user sd.SID) sd.Descriptor {
	return sd.Descriptor{Protected: true, DACL: []sd.ACE{
		{Mask: limits.ProcessAll, SID: sd.LocalSystem},
		{Mask: limits.ProcessAll, SID: user},
		{Mask: limits.ProcessWait, SID: sd.OwnerRights}, // the account owns the process; this is all that it gets from that
	}}
}

// RunSecurity is the list of a run's own folder.
func RunSecurity(user, group sd.SID, root sd.SID) sd.Descriptor {
	return sd.Descriptor{Owner: user, Protected: true, DACL: []sd.ACE{
		{Mask: sd.MaskAll, Flags: sd.Inherit, SID: sd.LocalSystem},
		{Mask: sd.MaskAll, Flags: sd.Inherit, SID: user},
		{Mask: sd.MaskContent, SID: group},
		{Mask: sd.MaskContent, SID: root},
		{Mask: sd.MaskModify | sd.DeleteChild, Flags: sd.Inherit | sd.InheritOnly, SID: group},
		{Mask: sd.MaskModify | sd.DeleteChild, Flags: sd.Inherit | sd.InheritOnly, SID: root},
		{Mask: sd.ReadControl, Flags: sd.Inherit | sd.InheritOnly, SID: sd.OwnerRights},
	}}
}

// Describe gives the parts of a run that do not depend on files, as text for a golden file.
func Describe(user, account, group, half, run sd.SID, callers []sd.SID, files acl.Plan) string {
	var roots []sd.SID
	for _, r := range files.Roots {
		roots = append(roots, r.SID)
	}
	t, j := Token(half, run, roots, callers), Job()
	var b strings.Builder
	fmt.Fprintf(&b, "token flags 0x%x\n", t.Flags)
	for _, s := range t.Restricting {
		fmt.Fprintf(&b, "  restricted to %s\n", s)
	}
	for _, s := range t.Disable {
		fmt.Fprintf(&b, "  without %s\n", s)
	}
	fmt.Fprintf(&b, "  makes objects with %s\n", sd.Descriptor{DACL: t.DefaultDACL})
	fmt.Fprintf(&b, "job limits 0x%x, window limits 0x%x\n", j.Limits, j.UI)
	for _, d := range []struct {
		name string
		d    sd.Descriptor
	}{{"pipe", PipeSecurity(user, account)}, {"window station", StationSecurity(user, account)}, {"desktop", DesktopSecurity(user, account, run)},
		{"runner process", RunnerSecurity(user)}, {"run folder", RunSecurity(user, group, run)}} {
		fmt.Fprintf(&b, "%s %s\n", d.name, d.d)
	}
	return b.String()
}
