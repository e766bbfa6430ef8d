package acl

import (
	"fmt"
	"slices"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// Who the entries speak of.
type Who struct {
	Caller  sd.SID // the user whose files they are
	Account sd.SID
	Group   sd.SID
}

// Request is one command's files.
type Request struct {
	Files wire.FilePolicy
	Dir   string // working directory
	Home  string
	Who   Who
}

// Change is what one object needs.
type Change struct {
	Object winapi.Object
	Add    []sd.ACE
	Why    string
}

// Root is a tree that the command may write.
type Root struct {
	Path string
	SID  sd.SID // stands in the restricting SIDs of the command's token, and in the root's list
}

// Plan is everything that one command needs on disk. Changes that deny come first.
type Plan struct {
	Changes []Change
	// Shut are denials that need not be written while nothing lets the account in. Another command's grant may.
	Shut  []Change
	Roots []Root
	Notes []string
	// HomeOpen: the user's home directory is granted, so that the command can use it as its own.
	HomeOpen bool
	// Protected are the names that srt itself keeps from being written, as far as they exist.
	Protected []string
	// Watch are protected names that do not exist: Windows cannot keep a single name from being made, so they are looked at afterwards.
	Watch []string
}

// region is what holds for a path.
type region int

const (
	ordinary region = iota // the account's own rights: nothing of ours
	hidden
	readable
	writable
)

// object tells objects apart. The name alone does not: where Go folds a letter that Windows leaves apart, a command could have made
// another object under a name that folds to a protected one.
type object struct {
	volume uint64
	id     [16]byte
	name   string
}

func identity(o winapi.Object) object { return object{o.Volume, o.ID, winpath.Key(o.Path)} }

type planner struct {
	api    winapi.Files
	who    Who
	rules  *pathrule.Policy
	marks  map[string]*pathrule.Mark // by key of the slashed path
	plan   Plan
	order  []object
	change map[object]*Change
	lists  map[object]sd.Descriptor
	twins  map[string]map[string][2]string // by key of the directory: names in it that fold to the same
	budget int
	asked  map[string]bool // the user's own denyWrite entries, as messages name them
	kinds  map[string]bool // volume roots that keep lists
}

// maxVisited bounds how many objects below denied paths are looked at.
const maxVisited = 200_000

// Make plans. Nothing is changed; errors are refusals (*wire.Fault of CodePolicy) or failed calls.
func Make(api winapi.Files, r Request) (Plan, error) {
	if r.Files.Disabled {
		return Plan{}, fault("plan files", "", "filesystem.disabled cannot be had on Windows: the account reads and writes only what its access lists name",
			"remove filesystem.disabled and list directories in allowRead and allowWrite")
	}
	v := &view{api: api}
	files, err := cleanPolicy(r.Files)
	if err != nil {
		return Plan{}, err
	}
	rules, err := pathrule.NewWith(files, v, pathrule.Options{Dir: slashed(r.Dir), Home: slashed(r.Home), FoldCase: true})
	if err != nil {
		return Plan{}, err
	}
	if v.err != nil {
		return Plan{}, v.err
	}
	p := &planner{api: api, who: r.Who, rules: rules, marks: map[string]*pathrule.Mark{}, change: map[object]*Change{}, lists: map[object]sd.Descriptor{}, twins: map[string]map[string][2]string{},
		budget: maxVisited, kinds: map[string]bool{}, asked: map[string]bool{}}
	for _, e := range files.DenyWrite {
		p.asked[e.Rule] = true
	}
	for _, m := range rules.Marks() {
		p.marks[winpath.Key(native(m.Path))] = m
	}
	if err := p.refuseUnguardable(); err != nil {
		return Plan{}, err
	}
	for _, m := range rules.Marks() {
		if err := p.mark(m); err != nil {
			return Plan{}, err
		}
	}
	p.plan.Protected = p.protectedNames()
	if home, err := winpath.Clean(r.Home); err == nil {
		at := p.regionOf(slashed(home))
		p.plan.HomeOpen = at == readable || at == writable
	}
	p.plan.Notes = append(p.plan.Notes, rules.Notes()...)
	p.finish()
	return p.plan, nil
}

func fault(op, path, detail, hint string) error {
	return &wire.Fault{Code: wire.CodePolicy, Op: op, Path: path, Detail: detail, Hint: hint}
}

// cleanPolicy gives the lists in the one spelling that the rules compare.
func cleanPolicy(f wire.FilePolicy) (wire.FilePolicy, error) {
	for _, l := range []struct {
		name    string
		entries *[]wire.PathEntry
	}{{"denyRead", &f.DenyRead}, {"allowRead", &f.AllowRead}, {"allowWrite", &f.AllowWrite}, {"denyWrite", &f.DenyWrite}} {
		out := slices.Clone(*l.entries)
		for i := range out {
			if out[i].Glob {
				out[i].Path = slashed(out[i].Path)
				continue
			}
			clean, err := winpath.Clean(out[i].Path)
			if err != nil {
				return f, fault(l.name, out[i].Rule, err.Error(), "name a folder or a file on a local drive by its plain path")
			}
			out[i].Path = slashed(clean)
		}
		*l.entries = out
	}
	return f, nil
}

// refuseUnguardable refuses what Windows has no means for, rather than leave it open.
func (p *planner) refuseUnguardable() error {
	for _, g := range p.rules.Globs() {
		if base := g.Glob.LiteralBase(); p.rules.Writable(base) || p.rules.AllowsBelow(base) {
			return fault("denyWrite", g.Rule, "a pattern also speaks of files that do not exist yet, and an access list cannot",
				"name the files or their directory; what exists is then denied")
		}
	}
	for _, m := range p.rules.Marks() {
		path := native(m.Path)
		switch {
		case m.Kind != pathrule.Missing:
		case m.AllowWrite != "":
			return fault("allowWrite", m.AllowWrite, fmt.Sprintf("%q does not exist, and an access list needs something to be on", path), "make it first, as a directory or an empty file")
		case m.DenyWrite != "" && p.rules.Writable(parentOf(m.Path)):
			if !p.asked[m.DenyWrite] { // srt's own protections are watched where they are missing
				p.plan.Watch = append(p.plan.Watch, path)
				continue
			}
			return fault("denyWrite", m.DenyWrite, fmt.Sprintf("%q does not exist and lies where the command may write; Windows cannot keep one name from being made", path),
				"make it first, or leave its directory out of allowWrite")
		}
	}
	slices.Sort(p.plan.Watch)
	return nil
}

// protectedNames lists what exists and is denied by srt's own table, not by the user.
func (p *planner) protectedNames() []string {
	var out []string
	for _, m := range p.rules.Marks() {
		if m.DenyWrite != "" && !p.asked[m.DenyWrite] && m.Kind != pathrule.Missing {
			out = append(out, native(m.Path))
		}
	}
	return out
}

// Appeared lists protected names that came into being since the plan was made. Windows cannot keep one name from being made, so srt
// looks afterwards and tells the user what could run later.
func Appeared(api winapi.Files, r Request, before Plan) ([]string, error) {
	v := &view{api: api}
	files, err := cleanPolicy(r.Files)
	if err != nil {
		return nil, err
	}
	rules, err := pathrule.NewWith(files, v, pathrule.Options{Dir: slashed(r.Dir), Home: slashed(r.Home), FoldCase: true})
	if err != nil {
		return nil, err
	}
	p := &planner{rules: rules, asked: map[string]bool{}}
	for _, e := range files.DenyWrite {
		p.asked[e.Rule] = true
	}
	return slices.DeleteFunc(p.protectedNames(), func(path string) bool { return slices.Contains(before.Protected, path) }), v.err
}

func parentOf(path string) string { return slashed(winpath.Parent(native(path))) }

// regionOf says what the rules make of a path without links in it.
func (p *planner) regionOf(path string) region {
	switch {
	case p.rules.Hidden(path):
		return hidden
	case p.rules.Writable(path):
		return writable
	}
	for q := native(path); ; q = winpath.Parent(q) {
		if m := p.marks[winpath.Key(q)]; m != nil && (m.AllowRead != "" || m.AllowWrite != "") && m.Kind != pathrule.Link {
			return readable
		} else if m != nil && m.DenyRead != "" || q == winpath.Parent(q) {
			return ordinary
		}
	}
}

// writeAbove says whether a writable root of this plan lies above path, so that its grants are inherited here.
func (p *planner) writeAbove(path string) bool {
	for q := winpath.Parent(path); ; q = winpath.Parent(q) {
		if m := p.marks[winpath.Key(q)]; m != nil && m.AllowWrite != "" {
			return true
		}
		if q == winpath.Parent(q) {
			return false
		}
	}
}

// finish puts denials first and drops what came out empty.
func (p *planner) finish() {
	var deny, allow []Change
	for _, key := range p.order {
		c := p.change[key]
		var d, a []sd.ACE
		for _, e := range c.Add {
			if e.Kind == sd.Deny {
				d = append(d, e)
			} else {
				a = append(a, e)
			}
		}
		switch {
		case len(d) > 0: // one write for both, because the list is written once
			deny = append(deny, Change{c.Object, append(d, a...), c.Why})
		case len(a) > 0:
			allow = append(allow, Change{c.Object, a, c.Why})
		}
	}
	p.plan.Changes = append(deny, allow...)
}
