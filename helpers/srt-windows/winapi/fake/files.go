package fake

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

type node struct {
	name     string
	dir      bool
	link     string // a reparse point: what it leads to
	id       uint64
	security sd.Descriptor
	content  []byte
	parent   *node
	children map[string]*node
}

func (n *node) path() string {
	if n.parent == nil {
		return n.name
	}
	return winpath.Join(n.parent.path(), n.name)
}

// find walks a path, following links at most 32 times. The caller holds the lock.
func (w *Windows) find(path string) (*node, error) {
	at := w.root
	parts := strings.Split(strings.Trim(path[2:], `\`), `\`)
	if len(parts) == 1 && parts[0] == "" {
		return at, nil
	}
	for hops := 0; len(parts) > 0; {
		name := upper(parts[0])
		if long, ok := w.short[name]; ok {
			name = long
		}
		next := at.children[name]
		if next == nil {
			if len(parts) > 1 {
				return nil, winapi.ErrPathNotFound
			}
			return nil, winapi.ErrFileNotFound
		}
		parts = parts[1:]
		at = next
		if at.link == "" {
			continue
		}
		if hops++; hops > 32 {
			return nil, winapi.Errno(1921) // ERROR_CANT_RESOLVE_FILENAME
		}
		parts = append(strings.Split(strings.Trim(at.link[2:], `\`), `\`), parts...)
		at = w.root
	}
	return at, nil
}

func (w *Windows) object(n *node) winapi.Object {
	o := winapi.Object{Path: n.path(), Volume: 1, Dir: n.dir}
	binary.LittleEndian.PutUint64(o.ID[:], n.id)
	return o
}

func (w *Windows) may(n *node, mask uint32) error {
	if ok, _ := sd.Check(n.security, w.token(), mask, sd.FileMapping); !ok {
		return winapi.ErrAccessDenied
	}
	return nil
}

// Look implements winapi.Files.
func (w *Windows) Look(path string) (winapi.Look, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("Look %s", path); err != nil {
		return winapi.Look{}, err
	}
	if len(path) == 3 {
		return winapi.Look{Kind: winapi.KindDir}, nil
	}
	parent, err := w.find(winpath.Parent(path))
	if err != nil {
		return winapi.Look{}, nil
	}
	name := upper(winpath.Base(path))
	if long, ok := w.short[name]; ok {
		name = long
	}
	n := parent.children[name]
	switch {
	case n == nil:
		return winapi.Look{}, nil
	case w.may(n, sd.ReadAttributes) != nil && w.may(parent, sd.ReadData) != nil:
		return winapi.Look{}, nil
	case n.link != "":
		return winapi.Look{Kind: winapi.KindLink, Name: n.name, Target: n.link}, nil
	case n.dir:
		return winapi.Look{Kind: winapi.KindDir, Name: n.name}, nil
	}
	return winapi.Look{Kind: winapi.KindFile, Name: n.name}, nil
}

// Resolve implements winapi.Files.
func (w *Windows) Resolve(path string) (winapi.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("Resolve %s", path); err != nil {
		return winapi.Object{}, err
	}
	n, err := w.findItself(path)
	if err != nil {
		return winapi.Object{}, err
	}
	if err := w.may(n, sd.ReadAttributes); err != nil && (n.parent == nil || w.may(n.parent, sd.ReadData) != nil) {
		return winapi.Object{}, err
	}
	if upper(n.path()) != upper(path) {
		return winapi.Object{}, winapi.ErrPathNotFound // a link or a short name on the way
	}
	return w.object(n), nil
}

// findItself is find without following the last component.
func (w *Windows) findItself(path string) (*node, error) {
	if len(path) == 3 {
		return w.root, nil
	}
	parent, err := w.find(winpath.Parent(path))
	if err != nil {
		return nil, winapi.ErrPathNotFound
	}
	if n := parent.children[upper(winpath.Base(path))]; n != nil {
		return n, nil
	}
	return nil, winapi.ErrFileNotFound
}

// Find implements winapi.Files.
func (w *Windows) Find(o winapi.Object) (winapi.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("Find %s", o.Path); err != nil {
		return winapi.Object{}, err
	}
	var found *node
	var walk func(n *node)
	walk = func(n *node) {
		if w.object(n).ID == o.ID {
			found = n
		}
		for _, c := range n.children {
			walk(c)
		}
	}
	walk(w.root)
	if found == nil || o.Volume != 1 {
		return winapi.Object{}, winapi.ErrFileNotFound
	}
	return w.object(found), nil
}

// Move renames an object, as the user may do at any time.
func (w *Windows) Move(from, to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, _ := w.findItself(from)
	delete(n.parent.children, upper(n.name))
	n.name, n.parent = winpath.Base(to), w.mk(winpath.Parent(to), true)
	n.parent.children[upper(n.name)] = n
}

// ReadSmall implements winapi.Files.
func (w *Windows) ReadSmall(path string, limit int) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("ReadSmall %s", path); err != nil {
		return nil, err
	}
	n, err := w.findItself(path)
	if err != nil {
		return nil, err
	}
	if err := w.may(n, sd.ReadData); err != nil {
		return nil, err
	}
	if n.dir || n.link != "" || len(n.content) > limit {
		return nil, winapi.Errno(87)
	}
	return n.content, nil
}

// List implements winapi.Files.
func (w *Windows) List(path string) ([]winapi.Entry, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("List %s", path); err != nil {
		return nil, err
	}
	n, err := w.find(path)
	if err != nil {
		return nil, err
	}
	if err := w.may(n, sd.ReadData); err != nil {
		return nil, err
	}
	var out []winapi.Entry
	for _, c := range n.children {
		out = append(out, winapi.Entry{Name: c.name, Dir: c.dir, Link: c.link != ""})
	}
	return out, nil
}

// pinned finds the object that o was resolved to; the name itself must not mean another one now.
func (w *Windows) pinned(o winapi.Object) (*node, error) {
	n, err := w.findItself(o.Path)
	if err != nil {
		return nil, err
	}
	if upper(n.path()) != upper(o.Path) || w.object(n).ID != o.ID {
		return nil, winapi.Errno(1117) // another object by now
	}
	return n, nil
}

// Security implements winapi.Files.
func (w *Windows) Security(o winapi.Object) (sd.Descriptor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("Security %s", o.Path); err != nil {
		return sd.Descriptor{}, err
	}
	n, err := w.pinned(o)
	if err != nil {
		return sd.Descriptor{}, err
	}
	if err := w.may(n, sd.ReadControl); err != nil {
		return sd.Descriptor{}, err
	}
	d := n.security
	d.DACL = slices.Clone(d.DACL)
	return d, nil
}

// SetDACL implements winapi.Files.
func (w *Windows) SetDACL(o winapi.Object, d sd.Descriptor) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("SetDACL %s", o.Path); err != nil {
		return err
	}
	n, err := w.pinned(o)
	if err != nil {
		return err
	}
	if err := w.may(n, sd.WriteDAC); err != nil {
		return err
	}
	if w.fsKind[`C:\`] != "NTFS" {
		return winapi.Errno(50) // ERROR_NOT_SUPPORTED
	}
	n.security.DACL, n.security.NoDACL = slices.Clone(d.DACL), d.NoDACL
	return w.done(nil)
}

func (w *Windows) propagate(n *node) {
	for _, c := range n.children {
		if c.link != "" {
			continue
		}
		before := c.security.String()
		c.security = c.security.InheritFrom(n.security, c.dir)
		if c.dir && c.security.String() != before {
			w.propagate(c)
		}
	}
}

// MakeDir implements winapi.Files.
func (w *Windows) MakeDir(path string, d sd.Descriptor) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("MakeDir %s", path); err != nil {
		return err
	}
	if _, err := w.find(path); err == nil {
		return winapi.ErrAlreadyExists
	}
	parent, err := w.find(winpath.Parent(path))
	if err != nil {
		return winapi.ErrPathNotFound
	}
	if err := w.may(parent, sd.AppendData); err != nil {
		return err
	}
	owner := d.Owner
	if owner == "" {
		owner = w.Caller
	}
	n := w.child(parent, winpath.Base(path), true, owner)
	n.security = d
	n.security.Owner = owner
	return w.done(nil)
}

// DirSecurity implements winapi.Files.
func (w *Windows) DirSecurity(path string, d sd.Descriptor) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("DirSecurity %s", path); err != nil {
		return err
	}
	n, err := w.find(path)
	if err != nil {
		return err
	}
	if err := w.may(n, sd.WriteDAC); err != nil {
		return err
	}
	owner := n.security.Owner
	n.security = d
	n.security.Owner = owner
	w.propagate(n)
	return w.done(nil)
}

// RemoveTree implements winapi.Files.
func (w *Windows) RemoveTree(path string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("RemoveTree %s", path); err != nil {
		return err
	}
	n, err := w.find(path)
	if err != nil {
		return winapi.ErrFileNotFound
	}
	if err := w.may(n, sd.Delete); err != nil && w.may(n.parent, sd.DeleteChild) != nil {
		return err
	}
	delete(n.parent.children, upper(n.name))
	return w.done(nil)
}

// KeepsACLs implements winapi.Files.
func (w *Windows) KeepsACLs(path string) (string, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("KeepsACLs %s", path); err != nil {
		return "", false, err
	}
	kind := w.fsKind[`C:\`]
	return kind, kind == "NTFS", nil
}
