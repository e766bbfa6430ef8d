package sbpltest

import (
	"fmt"
	"path"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
)

// dataVolume is where firmlinks lead; the kernel leaves the prefix out of the paths that it shows to Seatbelt.
const dataVolume = "/System/Volumes/Data"

// Machine answers for whole system calls: it follows links as the kernel does and asks the profile for every operation on the way.
type Machine struct {
	Profile *Profile
	Order   Order
	FS      pathrule.FS
}

// spot is where a path leads.
type spot struct {
	path string
	kind pathrule.Kind
}

// walk follows p. It fails when something on the way may not be looked at, and where there is no way.
func (m Machine) walk(p string, follow bool) (spot, error) {
	rest := throughFirmlink(path.Clean(p))
	at := spot{"/", pathrule.Dir}
	for hops := 0; ; {
		rest = strings.TrimLeft(rest, "/")
		if rest == "" {
			return at, nil
		}
		name, tail, _ := strings.Cut(rest, "/")
		if at.kind != pathrule.Dir {
			return spot{path.Join(at.path, rest), pathrule.Missing}, fmt.Errorf("%q is not a directory", at.path)
		}
		next := path.Join(at.path, name)
		if err := m.ask("file-test-existence", next, ""); err != nil {
			return at, err
		}
		kind := m.FS.Lstat(next)
		if kind == pathrule.Link && (tail != "" || follow) {
			if err := m.ask("file-read-metadata", next, Symlink); err != nil {
				return at, err
			}
			if hops++; hops > 32 {
				return at, fmt.Errorf("%q: too many links", p)
			}
			to := throughFirmlink(m.FS.Readlink(next))
			if strings.HasPrefix(to, "/") {
				at = spot{"/", pathrule.Dir}
			}
			rest = to + "/" + tail
			continue
		}
		if kind == pathrule.Missing {
			return spot{path.Join(next, tail), kind}, m.askBelow(next, tail)
		}
		at, rest = spot{next, kind}, tail
	}
}

// throughFirmlink is what a path through the data volume's own name is to the kernel.
func throughFirmlink(p string) string {
	if short, ok := strings.CutPrefix(p, dataVolume+"/"); ok {
		return "/" + short
	}
	return p
}

// askBelow: a component that is not there ends the way, unless nothing is to come behind it.
func (m Machine) askBelow(next, tail string) error {
	if strings.Trim(tail, "/") != "" {
		return fmt.Errorf("%q does not exist", next)
	}
	return nil
}

func vnode(k pathrule.Kind) string {
	switch k {
	case pathrule.Dir:
		return Directory
	case pathrule.Link:
		return Symlink
	case pathrule.Other:
		return Socket
	}
	return Regular
}

func (m Machine) ask(op, p, vnode string) error {
	return m.Ask(Query{Op: op, Path: p, Vnode: vnode})
}

// Ask judges one operation that no system call of files asks for.
func (m Machine) Ask(q Query) error {
	if v := m.Profile.Decide(m.Order, q); !v.Allow {
		return fmt.Errorf("%s %s denied by line %d", q.Op, q.Path, v.Line)
	}
	return nil
}

// operations of system calls that look at one existing object or at the name of one to come.
var operations = map[pathrule.Op][]string{
	pathrule.OpRead:     {"file-read-data"},
	pathrule.OpStat:     {"file-read-metadata"},
	pathrule.OpList:     {"file-read-data"},
	pathrule.OpExec:     {"process-exec*"},
	pathrule.OpWrite:    {"file-write-data"},
	pathrule.OpTruncate: {"file-write-data"},
	pathrule.OpChmod:    {"file-write-mode", "file-write-owner", "file-write-flags", "file-write-xattr", "file-write-times", "file-write-acl"},
}

// Do judges an operation on one path. nil means that the profile has nothing against it.
func (m Machine) Do(op pathrule.Op, p string) error {
	switch op {
	case pathrule.OpCreate, pathrule.OpMkdir, pathrule.OpSymlink:
		at, err := m.walk(p, op == pathrule.OpCreate)
		switch {
		case err != nil:
			return err
		case op == pathrule.OpCreate && at.kind != pathrule.Missing:
			return m.ask("file-write-data", at.path, vnode(at.kind))
		}
		kind := map[pathrule.Op]string{pathrule.OpCreate: Regular, pathrule.OpMkdir: Directory, pathrule.OpSymlink: Symlink}[op]
		return m.ask("file-write-create", at.path, kind)
	case pathrule.OpRemove:
		at, err := m.walk(p, false)
		if err != nil {
			return err
		}
		return m.ask("file-write-unlink", at.path, vnode(at.kind))
	}
	ops, ok := operations[op]
	if !ok {
		panic("no operation on one path: " + op.String())
	}
	at, err := m.walk(p, true)
	for i := 0; err == nil && i < len(ops); i++ {
		err = m.ask(ops[i], at.path, vnode(at.kind))
	}
	return err
}

// DoPair judges a rename, a hard link or a clone. Whether a rename also asks to remove what it replaces is not certain, so it does not.
func (m Machine) DoPair(op pathrule.Op, from, to string) error {
	a, err := m.walk(from, false)
	if err != nil {
		return err
	}
	b, err := m.walk(to, false)
	if err != nil {
		return err
	}
	first := "file-write-unlink"
	if op == pathrule.OpLink {
		first = "file-link"
	}
	if err := m.ask(first, a.path, vnode(a.kind)); err != nil {
		return err
	}
	return m.ask("file-write-create", b.path, vnode(a.kind))
}

// Clone judges clonefile(2).
func (m Machine) Clone(from, to string) error {
	a, err := m.walk(from, false)
	if err != nil {
		return err
	}
	b, err := m.walk(to, false)
	if err != nil {
		return err
	}
	if err := m.ask("file-clone", a.path, vnode(a.kind)); err != nil {
		return err
	}
	return m.ask("file-write-create", b.path, vnode(a.kind))
}
