package pathrule

import "fmt"

// Op is what a command does to a path. The zero value is no operation and is denied.
type Op uint8

// Operations. All but OpStat's and OpRemove's kind follow a link at the end of the path as the system call does.
const (
	OpRead     Op = iota + 1 // open for reading
	OpStat                   // metadata
	OpList                   // list a directory
	OpExec                   // execute
	OpWrite                  // change the content of what exists
	OpCreate                 // open with O_CREAT: make it, or write to it when it exists
	OpMkdir                  // make a directory, FIFO, socket or device: the last component must not exist
	OpRemove                 // unlink, rmdir
	OpRename                 // two paths
	OpLink                   // hard link, two paths: what exists, the new name
	OpSymlink                // make a symbolic link at path
	OpChmod                  // mode, owner, times, attributes
	OpTruncate               // truncate by path
)

var opNames = [...]string{"no operation", "read", "stat", "list", "exec", "write", "create", "mkdir", "remove", "rename", "link", "symlink", "chmod", "truncate"}

func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return opNames[0]
}

// Decision is the answer to one question. Allowed says that the policy has nothing against it; ordinary permissions and what exists
// are the system's business.
type Decision struct {
	Allowed bool
	Rule    string // the settings entry or protection that decided, "" when none did
	Reason  string
}

func allow(reason string) Decision { return Decision{Allowed: true, Reason: reason} }

func deny(rule, format string, args ...any) Decision {
	return Decision{Rule: rule, Reason: fmt.Sprintf(format, args...)}
}

// Decide judges an operation on one path, by where the path really leads now.
func (p *Policy) Decide(op Op, path string) Decision {
	if p.files.Disabled {
		return allow("file limits are disabled")
	}
	if !isAbs(path) {
		return deny("", "%q is not absolute", path)
	}
	switch op {
	case OpRead, OpList, OpExec, OpStat:
		pl, bad := p.walk(path, true)
		if bad != nil {
			return *bad
		}
		return p.judgeRead(op, pl.path)
	case OpWrite, OpTruncate, OpChmod:
		pl, bad := p.walk(path, true)
		if bad != nil {
			return *bad
		}
		return p.judgeWrite(pl.path)
	case OpCreate:
		pl, bad := p.walk(path, true)
		if bad != nil {
			return *bad
		}
		if pl.kind != Missing {
			return p.judgeWrite(pl.path)
		}
		return p.judgeCreate(op, pl.path, false)
	case OpMkdir, OpSymlink:
		pl, bad := p.walk(path, false)
		if bad != nil {
			return *bad
		}
		return p.judgeCreate(op, pl.path, op == OpSymlink)
	case OpRemove:
		pl, bad := p.walk(path, false)
		if bad != nil {
			return *bad
		}
		return p.judgeRemove(pl.path)
	}
	return deny("", "%s takes two paths", op)
}

// DecidePair judges OpRename and OpLink; symbolic links at the end of either path are not followed.
func (p *Policy) DecidePair(op Op, from, to string) Decision {
	if p.files.Disabled {
		return allow("file limits are disabled")
	}
	if op != OpRename && op != OpLink || !isAbs(from) || !isAbs(to) {
		return deny("", "%s does not take these two paths", op)
	}
	a, bad := p.walk(from, false)
	if bad != nil {
		return *bad
	}
	b, bad := p.walk(to, false)
	if bad != nil {
		return *bad
	}
	if op == OpLink {
		if d := p.judgeWrite(a.path); !d.Allowed { // a second name would be a way around
			return d
		}
		return p.judgeCreate(op, b.path, a.kind == Link)
	}
	if d := p.judgeRemove(a.path); !d.Allowed {
		return d
	}
	if b.kind != Missing {
		if d := p.judgeRemove(b.path); !d.Allowed {
			return d
		}
	}
	if d := p.judgeCreate(op, b.path, a.kind == Link); !d.Allowed {
		return d
	}
	if a.kind == Dir {
		return p.judgeBrings(a.path, b.path)
	}
	return allow("")
}

// walk follows path as a command could: what a denied directory holds cannot be passed.
func (p *Policy) walk(path string, follow bool) (place, *Decision) {
	var blocked *Decision
	r := resolver{fs: p.fs, step: func(q string) bool {
		if d := p.judgeRead(OpStat, q); !d.Allowed {
			blocked = &d
			return false
		}
		return true
	}}
	pl := r.resolve(path, follow)
	return pl, blocked
}

func (p *Policy) judgeRead(op Op, path string) Decision {
	s := p.at(path)
	hidden := s.hidden
	if hidden == nil && p.lateReads != nil {
		if g := p.late(path); g != nil {
			hidden = &Mark{DenyRead: g.Rule}
		}
	}
	if hidden == nil {
		return allow("everything else may be read")
	}
	if op == OpStat && (p.passage[p.key(path)] || p.key(hidden.Path) == p.key(path) && !p.Hidden(parent(path))) {
		return allow("that it is there is no secret")
	}
	return deny(hidden.DenyRead, "denyRead covers %s", path)
}

// late finds a read denial by pattern that matches path or a directory above it, below the deepest AllowRead.
func (p *Policy) late(path string) *LiveGlob {
	for q := path; ; q = parent(q) {
		if m := p.marks[p.key(q)]; m != nil && m.AllowRead != "" || parent(q) == q {
			return nil
		}
		for i := range p.lateReads {
			if p.lateReads[i].Glob.Match(q) {
				return &p.lateReads[i]
			}
		}
	}
}

// judgeWrite judges a change of what is at path, which has no links in it.
func (p *Policy) judgeWrite(path string) Decision {
	s := p.at(path)
	switch {
	case s.hidden != nil:
		return deny(s.hidden.DenyRead, "what cannot be read cannot be written: denyRead covers %s", path)
	case s.deny != nil:
		return deny(s.deny.DenyWrite, "writing to %s is denied", path)
	case s.allow == nil:
		return deny("", "allowWrite does not cover %s", path)
	}
	for i := range p.globs {
		if p.globs[i].Glob.Covers(path) {
			return deny(p.globs[i].Rule, "writing to %s is denied by a pattern", path)
		}
	}
	return allow(s.allow.AllowWrite)
}

// judgeRemove judges taking away the name path.
func (p *Policy) judgeRemove(path string) Decision {
	if d := p.judgeWrite(path); !d.Allowed {
		return d
	}
	if up := parent(path); up == path || !p.Writable(up) {
		return deny("", "%s is where a writable tree begins, the directory above it is not writable", path)
	}
	k := p.key(path)
	if m := p.marks[k]; m != nil && m.Pin != "" {
		return deny(m.Pin, "%s must stay where it is", path)
	}
	if m := p.above[k]; m != nil {
		return deny(m.rule(), "%s holds the protected %s", path, m.Path)
	}
	if g := p.gitDirs[p.key(parent(path))]; g != nil && !g.Allows(base(path)) {
		return deny(GitRule, "%s is not what git work changes", path)
	}
	return allow("")
}

func (m *Mark) rule() string {
	for _, r := range []string{m.DenyWrite, m.DenyRead, m.Pin} {
		if r != "" {
			return r
		}
	}
	return m.AllowWrite
}
