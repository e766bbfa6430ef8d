package memfs

import (
	"path"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
)

// place resolves path and gives the directory node that holds the last component, its name and the node there, if any.
func (f *FS) place(p string, follow bool) (dir *node, name, real string, n *node) {
	if !follow {
		up, _ := pathrule.Resolve(f, path.Dir(p))
		real = path.Join(up, path.Base(p))
	} else {
		real, _ = pathrule.Resolve(f, p)
	}
	dir = f.at(path.Dir(real))
	if dir == nil || dir.kind != pathrule.Dir || real == "/" {
		return nil, "", real, f.at(real)
	}
	return dir, path.Base(real), real, dir.entries[path.Base(real)]
}

// Do performs an operation on one path, or says why a kernel would not.
func (f *FS) Do(op pathrule.Op, p string) error {
	follow := op != pathrule.OpRemove && op != pathrule.OpMkdir && op != pathrule.OpSymlink
	dir, name, _, n := f.place(p, follow)
	if n != nil && n.kind == pathrule.Link && follow {
		return ErrInvalid // a loop
	}
	switch op {
	case pathrule.OpRead, pathrule.OpExec:
		return f.want(n, pathrule.File)
	case pathrule.OpList:
		return f.want(n, pathrule.Dir)
	case pathrule.OpStat, pathrule.OpChmod:
		if n == nil {
			return ErrNotExist
		}
		return nil
	case pathrule.OpWrite, pathrule.OpTruncate:
		if err := f.want(n, pathrule.File); err != nil {
			return err
		}
		n.text = "changed"
		return nil
	case pathrule.OpCreate:
		if n != nil {
			return f.want(n, pathrule.File)
		}
		return f.add(dir, name, &node{kind: pathrule.File})
	case pathrule.OpMkdir:
		if n != nil {
			return ErrExist
		}
		return f.add(dir, name, &node{kind: pathrule.Dir, entries: map[string]*node{}})
	case pathrule.OpRemove:
		if n == nil || dir == nil {
			return ErrNotExist
		}
		if len(n.entries) > 0 {
			return ErrInvalid
		}
		delete(dir.entries, name)
		return nil
	}
	return ErrInvalid
}

func (f *FS) want(n *node, kind pathrule.Kind) error {
	switch {
	case n == nil:
		return ErrNotExist
	case n.kind != kind:
		return ErrInvalid
	}
	return nil
}

func (f *FS) add(dir *node, name string, n *node) error {
	if dir == nil {
		return ErrNotExist
	}
	n.born = f.started
	dir.entries[name] = n
	return nil
}

// Symlink makes a link.
func (f *FS) Symlink(target, p string) error {
	dir, name, _, n := f.place(p, false)
	if n != nil {
		return ErrExist
	}
	return f.add(dir, name, &node{kind: pathrule.Link, text: target})
}

// Pair performs OpRename or OpLink.
func (f *FS) Pair(op pathrule.Op, from, to string) error {
	fd, fname, freal, fn := f.place(from, false)
	td, tname, treal, tn := f.place(to, false)
	switch {
	case fn == nil || fd == nil || td == nil:
		return ErrNotExist
	case op == pathrule.OpLink && (tn != nil || fn.kind == pathrule.Dir):
		return ErrExist
	case op == pathrule.OpLink:
		td.entries[tname] = fn
		return nil
	case fn == tn || treal == freal || strings.HasPrefix(treal, freal+"/") || strings.HasPrefix(freal, treal+"/"):
		return ErrInvalid
	case tn != nil && (tn.kind == pathrule.Dir) != (fn.kind == pathrule.Dir), tn != nil && len(tn.entries) > 0:
		return ErrInvalid
	}
	delete(fd.entries, fname)
	td.entries[tname] = fn
	return nil
}
