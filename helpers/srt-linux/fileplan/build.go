package fileplan

import (
	"fmt"
	"path"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// builder collects the steps of one view. A mark becomes a step only where it changes what its directory already is: that keeps the
// plan minimal, and a writable entry inside a denied tree never appears, because it is not writable.
type builder struct {
	policy *pathrule.Policy
	view   *view.View
	notes  []string
	// The directory that was asked about last, and the answer: of the marks, siblings follow one another.
	dir string
	up  access
}

// access is how a mount shows a path.
type access uint8

const (
	hidden access = iota
	readOnly
	writable
)

func (b *builder) access(p string) access {
	switch isHidden, isWritable := b.policy.Standing(p); {
	case isHidden:
		return hidden
	case isWritable:
		return writable
	}
	return readOnly
}

func (b *builder) accessAbove(p string) access {
	if dir := path.Dir(p); dir != b.dir {
		b.dir, b.up = dir, b.access(dir)
	}
	return b.up
}

// addAll adds every mark. What many marks fill gets its size at once: to grow it costs more pages than it has.
func (b *builder) addAll(marks []*pathrule.Mark) error {
	readOnly := 0
	for _, m := range marks {
		if m.DenyWrite != "" && m.Kind != pathrule.Missing {
			readOnly++
		}
	}
	b.view.ReadOnly = make([]view.Target, 0, readOnly)
	b.view.Names = make([]view.Name, 0, len(marks)+len(b.policy.Globs())+len(b.policy.Sequences())+len(b.policy.GitDirs()))
	for _, m := range marks {
		if err := b.add(m); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

func (b *builder) add(m *pathrule.Mark) error {
	up := readOnly // above "/" there is nothing, and the whole tree begins read-only
	if m.Path != "/" {
		up = b.accessAbove(m.Path)
	}
	self := b.access(m.Path)
	if done, err := b.special(m, self); done || err != nil {
		return err
	}
	if m.Kind == pathrule.Missing {
		b.addMissing(m, self, up)
		return nil
	}
	t := view.Target{Path: m.Path, Dir: m.Kind == pathrule.Dir, Link: m.Kind == pathrule.Link}
	switch {
	case t.Link && up == writable && m.DenyWrite != "":
		t.Rule = m.DenyWrite
		b.view.ReadOnly = append(b.view.ReadOnly, t)
	case t.Link && up == hidden && m.AllowRead != "":
		t.Rule = m.AllowRead
		b.view.Reopen = append(b.view.Reopen, t)
	case t.Link:
	case self == hidden && up != hidden:
		t.Rule = m.DenyRead
		b.view.Hide = append(b.view.Hide, t)
	case self == readOnly && up == writable:
		t.Rule = m.DenyWrite
		b.view.ReadOnly = append(b.view.ReadOnly, t)
	case self == readOnly && up == hidden:
		t.Rule = m.AllowRead
		b.view.Reopen = append(b.view.Reopen, t)
	case self == writable && up != writable:
		if t.Rule = m.AllowWrite; t.Rule == "" {
			t.Rule = m.AllowRead
		}
		b.view.Write = append(b.view.Write, t)
	}
	b.noteIdle(m, self, up)
	if up == writable {
		b.addPath(m, self)
	}
	return nil
}

func (b *builder) addMissing(m *pathrule.Mark, self, up access) {
	switch {
	case m.DenyWrite != "" && up == writable:
		b.addPath(m, self)
	case m.DenyWrite != "":
		b.noteIdle(m, self, up)
	case m.AllowWrite != "" && self == writable && up == readOnly:
		if d := b.policy.Decide(pathrule.OpMkdir, m.Path); !d.Allowed { // a pattern or a protected name
			b.note("allowWrite %q: cannot be made: %s (%s)", m.AllowWrite, d.Reason, d.Rule)
			return
		}
		b.view.CreateOnce = append(b.view.CreateOnce, view.Target{Path: m.Path, Rule: m.AllowWrite})
	case m.AllowWrite != "" && self != writable:
		b.noteIdle(m, self, up)
	}
}

// addPath keeps what exists where it is, and what does not exist away.
func (b *builder) addPath(m *pathrule.Mark, self access) {
	n := view.Name{Kind: view.NamePath, Path: m.Path, Tree: true}
	switch {
	case m.DenyWrite != "":
		n.Rule = m.DenyWrite
	case self == hidden && m.Kind != pathrule.Missing:
		n.Rule, n.Tree = m.DenyRead, false // something may be re-opened inside
	case m.Pin != "":
		n.Rule, n.Tree = m.Pin, false
	default:
		return
	}
	b.view.Names = append(b.view.Names, n)
}

// noteIdle names the entries that change nothing where they are.
func (b *builder) noteIdle(m *pathrule.Mark, self, up access) {
	switch {
	case m.AllowWrite != "" && self == hidden:
		b.note("allowWrite %q: nothing there may be read (denyRead), so nothing may be written", m.AllowWrite)
	case m.AllowWrite != "" && self == readOnly:
		b.note("allowWrite %q: writing there is denied", m.AllowWrite)
	case m.DenyWrite != "" && up != writable && self != writable && m.AllowWrite == "" && !b.coversWritable(m.Path):
		b.note("denyWrite %q: nothing there is writable anyway", m.DenyWrite)
	case m.AllowRead != "" && m.DenyRead == "" && up != hidden:
		b.note("allowRead %q: nothing above it is denied", m.AllowRead)
	}
}

// coversWritable says that a denial above an allowWrite entry takes it away.
func (b *builder) coversWritable(dir string) bool { return b.policy.AllowsBelow(dir) }

// addNames adds the rules that are not about one path.
func (b *builder) addNames() {
	if len(b.view.Write) == 0 && len(b.view.CreateOnce) == 0 {
		return
	}
	for _, g := range b.policy.Globs() {
		b.view.Names = append(b.view.Names, view.Name{Kind: view.NameGlob, Path: g.Glob.String(), Tree: true, Rule: g.Rule})
	}
	seqs := b.policy.Sequences()
	for i := range seqs {
		s := &seqs[i]
		b.view.Names = append(b.view.Names, view.Name{Kind: view.NameSequence, Path: s.Name, Tree: s.Tree, Git: s.Git, Rule: s.Rule()})
	}
	for _, g := range b.policy.GitDirs() {
		b.view.Names = append(b.view.Names, view.Name{Kind: view.NameGitDir, Path: g.Path, Open: g.Open, Rule: pathrule.GitRule})
	}
}

// alwaysThere are the parts of the run's own /dev.
var alwaysThere = map[string]bool{"/dev": true, "/dev/null": true, "/dev/zero": true, "/dev/full": true, "/dev/random": true,
	"/dev/urandom": true, "/dev/tty": true, "/dev/shm": true, "/dev/pts": true, "/dev/ptmx": true}

// special deals with /dev, /proc and /sys, which the init makes anew. It says whether the mark is done with.
func (b *builder) special(m *pathrule.Mark, self access) (bool, error) {
	switch {
	case m.Path == "/proc" && self == hidden, alwaysThere[m.Path] && self == hidden:
		return true, &wire.Fault{Code: wire.CodePolicy, Op: "denyRead", Path: m.DenyRead, Detail: m.Path + " is made for the command and cannot be denied",
			Hint: "remove the entry: it shows nothing of the host"}
	case strings.HasPrefix(m.Path, "/dev/") || m.Path == "/dev":
		b.note("%s: the command has a /dev of its own", describe(m))
		return true, nil
	case m.AllowWrite != "" && self == writable && ownedBySandbox(m.Path):
		b.note("%s: /proc and /sys stay read-only", describe(m))
		return true, nil
	case strings.HasPrefix(m.Path, "/proc/") && len(m.Path) > 6 && '0' <= m.Path[6] && m.Path[6] <= '9':
		b.note("%s: the command sees no process of the host", describe(m))
		return true, nil
	}
	return false, nil
}

// refusePatterns refuses read denials by pattern that would hide nothing: the file systems of the kernel are not searched.
func refusePatterns(denyRead []wire.PathEntry) error {
	for _, e := range denyRead {
		if !e.Glob {
			continue
		}
		g, err := pathrule.ParseGlob(e.Path)
		if err == nil && ownedBySandbox(g.LiteralBase()) {
			return &wire.Fault{Code: wire.CodePolicy, Op: "denyRead", Path: e.Path, Detail: "patterns are not looked for in /dev, /proc and /sys",
				Hint: "name the files or directories that are meant"}
		}
	}
	return nil
}

func describe(m *pathrule.Mark) string {
	for _, x := range []struct{ list, rule string }{{"allowWrite", m.AllowWrite}, {"denyWrite", m.DenyWrite}, {"denyRead", m.DenyRead}, {"allowRead", m.AllowRead}} {
		if x.rule != "" {
			return fmt.Sprintf("%s %q", x.list, x.rule)
		}
	}
	return fmt.Sprintf("%q", m.Path)
}

// noteHardLinks names explicit entries that have a second name, where the entry does not hold.
func (b *builder) noteHardLinks(h *hostFS) {
	for _, list := range [][]view.Target{b.view.Write, b.view.ReadOnly, b.view.Hide} {
		for _, t := range list {
			if !t.Dir && !t.Link && h.secondName(t.Path) {
				b.note("%q: has a second name (hard link); %q does not cover that one", t.Path, t.Rule)
			}
		}
	}
}
