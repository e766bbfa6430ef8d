package pathrule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/wire"
)

// maxPath is PATH_MAX without the final NUL, in bytes.
const maxPath = 4095

// Mark is what the policy says of one path, with all links resolved as they were at the start. A field holds the settings entry (or the
// reason) that says it; "" means that nothing does.
type Mark struct {
	Path       string
	Kind       Kind // at the start; Missing: it must not come into being, or (AllowWrite) may
	DenyRead   string
	AllowRead  string
	AllowWrite string
	DenyWrite  string // a Link here is the link itself
	Pin        string // may change inside, but must stay where it is
	direct     bool   // AllowWrite by an entry with no link on its way
	readDirect bool   // AllowRead by such an entry
}

// LiveGlob is a write denial by pattern: it also holds for what comes into being later.
type LiveGlob struct {
	Glob *Glob
	Rule string
}

// Policy is a file policy bound to a file system at the moment when the command starts.
type Policy struct {
	files     wire.FilePolicy
	fs        FS
	opts      Options
	start     resolver
	marks     map[string]*Mark
	globs     []LiveGlob // writes
	lateReads []LiveGlob // reads, only with Options.LateReads
	sequences []Sequence
	heads     map[string][]*Sequence // by first component
	gitDirs   map[string]*GitDir
	gitSeen   map[string]bool
	gitLooks  int
	hooksRel  []string         // relative core.hooksPath values of the user's own git configuration
	passage   map[string]bool  // directories above an AllowRead: they can be walked through
	allows    map[string]bool  // AllowWrite paths and the directories above them
	above     map[string]*Mark // directories above a mark that must stay
	prefix    map[string]*Mark // directories above a mark that denies writing: no link may take their place
	searched  map[string]bool  // what maySearch said
	notes     []string
}

// New binds a policy to what fs shows now, as on Linux.
func New(files wire.FilePolicy, fs FS) (*Policy, error) { return NewWith(files, fs, Options{}) }

// NewWith is New with the differences of another system. Errors are *wire.Fault values that name the entry and the way out.
func NewWith(files wire.FilePolicy, fs FS, opts Options) (*Policy, error) {
	entries := len(files.DenyRead) + len(files.AllowRead) + len(files.DenyWrite) + len(files.AllowWrite)
	p := &Policy{files: files, fs: fs, opts: opts, marks: make(map[string]*Mark, entries), heads: map[string][]*Sequence{},
		gitDirs: map[string]*GitDir{}, gitSeen: map[string]bool{}, passage: map[string]bool{}, allows: map[string]bool{}, above: map[string]*Mark{}, prefix: map[string]*Mark{}, searched: map[string]bool{}}
	p.start = resolver{fs: fs, known: map[string]*knownDir{}, exact: !opts.FoldCase}
	if files.Disabled {
		return p, nil
	}
	for _, step := range []func() error{p.parseProtected, p.addEntries, p.protect} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.index()
	return p, nil
}

// list says which list of the policy an entry is on.
type list string

const (
	denyRead   list = "denyRead"
	allowRead  list = "allowRead"
	allowWrite list = "allowWrite"
	denyWrite  list = "denyWrite"
)

func fault(l list, e wire.PathEntry, detail, hint string) error {
	return &wire.Fault{Code: wire.CodePolicy, Op: string(l), Path: ruleOf(e), Detail: detail, Hint: hint}
}

func ruleOf(e wire.PathEntry) string {
	if e.Rule == "" {
		return e.Path
	}
	return e.Rule
}

func (p *Policy) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func (p *Policy) key(path string) string {
	if p.opts.FoldCase {
		return foldCase(path)
	}
	return path
}

func (p *Policy) mark(path string, kind Kind) *Mark {
	k := p.key(path)
	m := p.marks[k]
	if m == nil {
		m = &Mark{Path: path, Kind: kind}
		p.marks[k] = m
	}
	return m
}

// index fills the look-up tables once all marks are known. Each path upwards stops at the first directory that is there already.
func (p *Policy) index() {
	climb := func(m map[string]*Mark, mark *Mark) {
		for q := p.key(mark.Path); ; {
			up := parent(q)
			if up == q || m[up] != nil {
				return
			}
			m[up], q = mark, up
		}
	}
	for _, m := range p.marks {
		if m.AllowRead != "" {
			for q := parent(p.key(m.Path)); !p.passage[q]; q = parent(q) {
				p.passage[q] = true
			}
		}
		if m.AllowWrite != "" {
			for q := p.key(m.Path); !p.allows[q]; q = parent(q) {
				p.allows[q] = true
			}
		}
		if m.Kind != Missing && (m.DenyRead != "" && m.AllowRead == "" || m.DenyWrite != "" || m.Pin != "") {
			climb(p.above, m)
		}
		if m.DenyWrite != "" {
			climb(p.prefix, m)
		}
	}
	for _, g := range p.globs {
		m := &Mark{Path: g.Glob.LiteralBase(), DenyWrite: g.Rule}
		if k := p.key(m.Path); p.prefix[k] == nil {
			climb(p.prefix, m)
			p.prefix[k] = m
		}
	}
}

// Marks gives all marks, parents before children and siblings by name.
func (p *Policy) Marks() []*Mark {
	out := make([]*Mark, 0, len(p.marks))
	for _, m := range p.marks {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *Mark) int { return ComparePaths(a.Path, b.Path) })
	return out
}

// ComparePaths orders paths so that everything below a directory follows it at once.
func ComparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			switch {
			case a[i] == '/':
				return -1
			case b[i] == '/':
				return 1
			}
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

// Globs gives the write denials by pattern, based where their literal part really leads.
func (p *Policy) Globs() []LiveGlob { return p.globs }

// Sequences gives the protected names.
func (p *Policy) Sequences() []Sequence { return p.sequences }

// GitDirs gives the git directories that the command could write to, sorted by path.
func (p *Policy) GitDirs() []*GitDir {
	out := make([]*GitDir, 0, len(p.gitDirs))
	for _, g := range p.gitDirs {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *GitDir) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// Notes are remarks for --debug: entries that do nothing here.
func (p *Policy) Notes() []string { return p.notes }

// standing is what covers one path. Whoever reads it decides in this order: read, deny, allow.
type standing struct {
	hidden *Mark // a read denial that no deeper AllowRead lifts
	allow  *Mark
	deny   *Mark
}

func (s standing) writable() bool { return s.hidden == nil && s.deny == nil && s.allow != nil }

// at looks up what covers path, which has no links in it.
func (p *Policy) at(path string) standing {
	var s standing
	read := false
	for q := p.key(path); ; {
		if m := p.marks[q]; m != nil {
			if !read && m.AllowRead != "" {
				read = true
			} else if !read && m.DenyRead != "" {
				read, s.hidden = true, m
			}
			if s.allow == nil && m.AllowWrite != "" {
				s.allow = m
			}
			if s.deny == nil && m.DenyWrite != "" {
				s.deny = m
			}
		}
		up := parent(q)
		if up == q {
			return s
		}
		q = up
	}
}

// Writable says whether the marks let the command write to path, which has no links in it: what mounts can express. Patterns and
// protected names that come later are Decide's business.
func (p *Policy) Writable(path string) bool { return p.at(path).writable() }

// Standing gives Hidden and Writable with one look.
func (p *Policy) Standing(path string) (hidden, writable bool) {
	s := p.at(path)
	return s.hidden != nil, s.writable()
}

// Hidden says whether reading path, which has no links in it, is denied.
func (p *Policy) Hidden(path string) bool { return p.at(path).hidden != nil }

// AllowsBelow says whether an allowWrite entry lies at or below dir.
func (p *Policy) AllowsBelow(dir string) bool { return p.allows[p.key(dir)] }
