package profile

import (
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// Spec is all that a profile depends on. Every path in it is absolute, clean and free of links.
type Spec struct {
	Files    *pathrule.Policy // bound with FoldCase and LateReads; nil only when Unlimited
	Network  wire.NetPolicy
	Process  wire.ProcPolicy // AllowUnixSockets is not read: see Sockets
	Sockets  []wire.PathEntry
	TmpDir   string // the run's own, empty at the start; "" when there is none
	Relay    string // our own binary, which the command starts for git over ssh; "" when it needs none
	Tag      string // ends the log line of each denial; letters, digits, "-", "_" and "."
	Terminal bool   // the command has a terminal

	// Unlimited: no limits on files at all (filesystem.disabled).
	Unlimited bool

	// Real gives the spelling of a path as it is on the disk and how much of it exists, as a length of that spelling.
	Real func(path string) (real string, exists int)
}

// Profile is a profile with what there is to say about it.
type Profile struct {
	Text  string
	Notes []string // for --debug
}

// generator is one run of Generate.
type generator struct {
	Spec
	w        writer
	marks    []*pathrule.Mark
	writable []string // where trees begin that the command may write to
	spelt    map[string]spelling
	notes    []string
}

// Generate writes the profile. The error is a *wire.Fault that names the path or setting.
func Generate(s Spec) (Profile, error) {
	g := &generator{Spec: s, w: writer{tag: s.Tag}, spelt: map[string]spelling{}}
	if !checkTag(s.Tag) {
		return Profile{}, &wire.Fault{Code: wire.CodeMalformed, Op: "write the Seatbelt profile", Path: s.Tag, Detail: "is not a tag for log lines"}
	}
	if !s.Unlimited {
		g.marks = s.Files.Marks()
		g.findWritable()
	}
	g.header()
	g.process()
	g.network()
	if s.Unlimited {
		g.w.section("files: no limits")
		g.w.allow("file-read* file-write*")
	} else {
		g.files()
	}
	g.devices()
	g.last()
	text, err := g.w.finish()
	return Profile{text, g.notes}, err
}

func (g *generator) header() {
	g.w.line(sbpl.L("version", sbpl.Sym("1")))
	g.w.deny("default")
	g.w.section("every command")
	for _, r := range base {
		g.w.rule(r.action, r.ops, r.filters)
	}
	for _, r := range guarded {
		g.w.line(sbpl.L("if", sbpl.L("defined?", sbpl.Sym("'"+r.op)), sbpl.L("deny", sbpl.Sym(r.op))))
	}
	g.w.allow("sysctl-read", each("sysctl-name-prefix", sysctls, func(s struct{ prefix, why string }) string { return s.prefix })...)
	g.w.deny("sysctl-read", each("sysctl-name-prefix", hiddenSysctls, func(s struct{ prefix, why string }) string { return s.prefix })...)
	g.w.allow("sysctl-write", each("sysctl-name", writableSysctls, serviceName)...)
}

func serviceName(s struct{ name, why string }) string { return s.name }

func each[T any](head string, list []T, name func(T) string) []sbpl.Node {
	out := make([]sbpl.Node, len(list))
	for i, item := range list {
		out[i] = one(head, name(item))
	}
	return out
}

// findWritable collects where writable trees begin; rules about new names hold inside of them only.
func (g *generator) findWritable() {
	for _, m := range g.marks {
		if m.AllowWrite != "" {
			g.writable = append(g.writable, g.exactly(m.Path))
		}
	}
	if g.TmpDir != "" {
		g.writable = append(g.writable, g.exactly(g.TmpDir))
	}
	slices.SortFunc(g.writable, pathrule.ComparePaths)
	tops := g.writable[:0]
	for _, root := range g.writable {
		if n := len(tops); n == 0 || !inside(root, tops[n-1]) {
			tops = append(tops, root)
		}
	}
	g.writable = tops
}

// spelling is an answer of Spec.Real.
type spelling struct {
	real   string
	exists int
}

func (g *generator) real(p string) (string, int) {
	s, ok := g.spelt[p]
	if !ok {
		short, _ := Canonical(p)
		s.real, s.exists = g.Real(short)
		g.spelt[p] = s
	}
	return s.real, s.exists
}

// files are the rules of the policy.
func (g *generator) files() {
	hidden := g.hidden()
	g.w.section("reading: everything but what the policy hides")
	g.w.allow("file-read*")
	g.w.section("writing: what the policy allows")
	g.w.allowAny("file-write*", g.allowWrites())
	g.w.denyAny("file-write*", g.denyWrites())
	if g.TmpDir != "" {
		g.w.allow("file-write*", one("subpath", g.exactly(g.TmpDir)))
	}
	g.w.denyAny("file-write*", append(g.denyNames(), one("subpath", "/dev")))
	g.w.section("hidden: neither read nor written, run nor copied")
	g.w.denyAny("file-read* file-write* process-exec* file-clone", hidden)
	g.w.denyAny("file-test-existence", g.hiddenNames())
	g.w.allowAny("file-read-metadata", g.passable())
	if g.Files.Hidden("/") {
		g.w.allow("file-read-data", one("literal", "/")) // dyld gives up without; it tells the names in the root directory
	}
	g.w.section("names that stay where they are")
	g.w.denyAny("file-write-unlink", g.pinned())
	g.w.section("names that must not come into being")
	g.w.denyAny("file-write-create", g.uncreatable())
	g.w.section("no second names, no copies of whole trees")
	g.w.deny("file-link") // version 1 allows both by itself
	g.w.deny("file-clone", vnode("DIRECTORY"))
	g.otherDevices()
}

// otherDevices closes /dev for reading, but for its listings and what everybody uses.
func (g *generator) otherDevices() {
	open := []sbpl.Node{one("literal", "/dev"), one("subpath", "/dev/fd")}
	for _, d := range slices.Concat(devices, readableDevices) {
		open = append(open, one("literal", d.path))
	}
	g.w.deny("file-read-data", allOf(one("subpath", "/dev"), not(anyOf(open))))
}

// devices may be written to whatever the policy says.
func (g *generator) devices() {
	g.w.section("devices and terminal")
	const use = "file-read-data file-read-metadata file-write-data"
	for _, d := range devices {
		g.w.allow(use, allOf(one("literal", d.path), vnode("CHARACTER-DEVICE")))
	}
	g.w.allow("file-write-data", one("regex", "^/dev/fd/[0-9]+$"))
	if g.Terminal || g.Process.AllowPty {
		g.w.allow("file-ioctl", one("literal", "/dev/tty"), one("regex", "^/dev/ttys[0-9]+$"))
	}
	if g.Process.AllowPty {
		g.w.allow("pseudo-tty")
		g.w.allow(use+" file-ioctl", one("literal", "/dev/ptmx"))
		g.w.allow(use, allOf(one("regex", "^/dev/ttys[0-9]+$"), one("extension", "com.apple.sandbox.pty")))
	}
}

// last is what no rule before may lift.
func (g *generator) last() {
	g.w.deny("file-ioctl", sbpl.L("ioctl-command", sbpl.Sym(tiocsti)))
}

// note keeps a remark for --debug.
func (g *generator) note(text ...string) { g.notes = append(g.notes, strings.Join(text, "")) }
