package memfs

import (
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
)

// place walks path as a kernel does. It gives the directory that holds the last component, its name, the whole path without links and
// what is there now; a nil dir means that there is no such directory.
func (f *FS) place(p string, follow bool) (dir *node, name, real string, n *node) {
	at := []*node{f.root}
	var names []string
	rest := strings.Split(strings.Trim(p, "/"), "/")
	for hops := 0; len(rest) > 0; {
		name, rest = rest[0], rest[1:]
		cur := at[len(at)-1]
		if cur.kind != pathrule.Dir {
			return nil, "", "", nil
		}
		switch name {
		case "", ".":
			continue
		case "..":
			if len(names) > 0 {
				at, names = at[:len(at)-1], names[:len(names)-1]
			}
			continue
		}
		next := cur.entries[name]
		last := strings.Trim(strings.Join(rest, ""), ".") == "" && !slices.Contains(rest, "..")
		switch {
		case next == nil && last:
			return cur, name, "/" + strings.Join(append(names, name), "/"), nil
		case next == nil:
			return nil, "", "", nil
		case next.kind == pathrule.Link && (!last || follow):
			if hops++; hops > 40 {
				return nil, "", "", next
			}
			if strings.HasPrefix(next.text, "/") {
				at, names = at[:1], nil
			}
			rest = append(strings.Split(strings.Trim(next.text, "/"), "/"), rest...)
			continue
		}
		at, names = append(at, next), append(names, name)
	}
	if len(names) == 0 {
		return nil, "", "/", f.root
	}
	return at[len(at)-2], names[len(names)-1], "/" + strings.Join(names, "/"), at[len(at)-1]
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
		return f.add(dir, name, f.make(pathrule.File, ""))
	case pathrule.OpMkdir:
		if n != nil {
			return ErrExist
		}
		return f.add(dir, name, f.make(pathrule.Dir, ""))
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
	dir.entries[name] = n
	return nil
}

// Symlink makes a link.
func (f *FS) Symlink(target, p string) error {
	dir, name, _, n := f.place(p, false)
	if n != nil {
		return ErrExist
	}
	return f.add(dir, name, f.make(pathrule.Link, target))
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
