// Package plan turns a LaunchRequest into the sandbox-exec command that srt executes. It is pure: it sees the machine through Host only and
// changes nothing. It must never plan a run whose limits are less than the request's.
package plan

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/denylog"
	"github.com/srt-dev/srt/helpers/srt-darwin/profile"
)

// SandboxExec puts a profile on a command. Part of the sealed system volume.
const SandboxExec = "/usr/bin/sandbox-exec"

// maxArguments bounds arguments and environment together, in bytes, with their pointers; macOS takes 1 MiB (ARG_MAX).
const maxArguments = 1<<20 - 16<<10

// Host is what a plan depends on beside the request.
type Host interface {
	pathrule.FS
	Real(path string) (real string, exists int)
	Fresh(dir string) error          // nil: a directory of this run alone
	Executable(program string) error // nil: can be executed
}

// Build makes the plan. self is our own binary, which the command may start to reach ssh hosts. The error is a *wire.Fault.
func Build(req wire.LaunchRequest, h Host, self string) (wire.LaunchPlan, error) {
	none := wire.LaunchPlan{}
	tag, err := denylog.Tag(req.Host.SessionID, req.CommandID)
	if err != nil {
		return none, &wire.Fault{Code: wire.CodeMalformed, Op: "plan", Detail: err.Error()}
	}
	if len(req.Command.Argv) == 0 || !path.IsAbs(req.Command.Dir) {
		return none, &wire.Fault{Code: wire.CodeMalformed, Op: "plan", Detail: "there is no command, or its directory is not absolute"}
	}
	spec := profile.Spec{Network: req.Network, Process: req.Process, Tag: tag, Terminal: req.Command.Terminal,
		Unlimited: req.Files.Disabled, Real: h.Real, Relay: resolved(h, self)}
	if spec.TmpDir, err = tmpDir(req.Command.Env, h); err != nil {
		return none, err
	}
	if spec.Sockets, err = sockets(req.Process.AllowUnixSockets, h); err != nil {
		return none, err
	}
	dir := resolved(h, req.Command.Dir)
	if !req.Files.Disabled {
		spec.Files, err = pathrule.NewWith(canonical(req.Files), h, pathrule.Options{Dir: dir, Home: req.Host.Home, FoldCase: true, LateReads: true})
		if err != nil {
			return none, asFault(err)
		}
	}
	p, err := profile.Generate(spec)
	if err != nil {
		return none, asFault(err)
	}
	if err := lookup(req.Command, h, spec.Files); err != nil {
		return none, err
	}
	out := wire.LaunchPlan{Version: wire.Version, Env: slices.Clone(req.Command.Env), Dir: req.Command.Dir, NewSession: !req.Command.Terminal,
		Argv:        append([]string{SandboxExec, "-p", p.Text, "--"}, req.Command.Argv...),
		Descriptors: []wire.Descriptor{}, Warnings: []string{}, Notes: append(notes(req, spec.Files, dir), p.Notes...),
		Mode: fmt.Sprintf("Seatbelt profile of %d bytes", len(p.Text))}
	for _, n := range req.Command.PassFDs {
		out.Descriptors = append(out.Descriptors, wire.Descriptor{Number: n, Kind: wire.FDPass})
	}
	if n := size(out); n > maxArguments {
		return none, &wire.Fault{Code: wire.CodePolicy, Op: "plan", Path: req.Command.Argv[0], Detail: fmt.Sprintf("profile, arguments and environment have %d bytes, macOS takes at most %d", n, maxArguments),
			Hint: "name directories instead of the many files in them, or hand the arguments over in a file"}
	}
	return out, nil
}

func size(p wire.LaunchPlan) int {
	n := 0
	for _, s := range slices.Concat(p.Argv, p.Env) {
		n += len(s) + 1 + 8
	}
	return n
}

// canonical spells entries that go through the data volume as Seatbelt sees them. What has no such name is refused later.
func canonical(f wire.FilePolicy) wire.FilePolicy {
	for _, list := range []*[]wire.PathEntry{&f.DenyRead, &f.AllowRead, &f.AllowWrite, &f.DenyWrite} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Path, _ = profile.Canonical((*list)[i].Path)
		}
	}
	return f
}

// resolved is where p leads, as the disk spells it. "" stays "".
func resolved(h Host, p string) string {
	if p == "" {
		return ""
	}
	p, _ = profile.Canonical(p)
	p, _ = pathrule.Resolve(h, p)
	p, _ = profile.Canonical(p)
	p, _ = h.Real(p)
	return p
}

// sockets gives the entries of allowUnixSockets by where they lead.
func sockets(entries []wire.PathEntry, h Host) ([]wire.PathEntry, error) {
	out := slices.Clone(entries)
	for i := range out {
		e := &out[i]
		if !e.Glob {
			e.Path = resolved(h, e.Path)
			continue
		}
		g, err := pathrule.ParseGlob(e.Path)
		if err == nil {
			g, err = g.Rebase(resolved(h, g.LiteralBase()))
		}
		if err != nil {
			return nil, &wire.Fault{Code: wire.CodePolicy, Op: "allowUnixSockets", Path: e.Rule, Detail: err.Error()}
		}
		e.Path = g.String()
	}
	return out, nil
}

// tmpDir finds the run's own temporary directory in the command's environment. The user's own would open what other programs keep there.
func tmpDir(env []string, h Host) (string, error) {
	dir := lookupEnv(env, "TMPDIR")
	if dir == "" {
		return "", nil
	}
	if !path.IsAbs(dir) {
		return "", &wire.Fault{Code: wire.CodeMalformed, Op: "temporary directory", Path: dir, Detail: "is not an absolute path (a bug, please report)"}
	}
	real := resolved(h, path.Clean(dir))
	if err := h.Fresh(real); err != nil {
		return "", &wire.Fault{Code: wire.CodeMalformed, Op: "temporary directory", Path: dir, Detail: "was not made for this run: " + err.Error() + " (a bug, please report)"}
	}
	return real, nil
}

// lookupEnv gives the last value of name.
func lookupEnv(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

func asFault(err error) error {
	var f *wire.Fault
	if errors.As(err, &f) {
		return f
	}
	return &wire.Fault{Code: wire.CodeInternal, Op: "plan", Detail: err.Error()}
}
