// Package memfs is a file system in memory for tests of file rules: it implements pathrule.FS and the operations that rules are about,
// as a POSIX kernel without permissions would. It is for tests only and must never be linked into a program.
package memfs

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
)

// Errors of operations that a plain kernel would refuse.
var (
	ErrNotExist = fs.ErrNotExist
	ErrExist    = fs.ErrExist
	ErrInvalid  = errors.New("not possible on what is there")
)

// node is one inode; a hard link is a second name for the same node.
type node struct {
	kind    pathrule.Kind
	text    string // content of a file, target of a link
	entries map[string]*node
	born    bool
	id      int
}

// FS is the file system. What is made after Start counts as born later.
type FS struct {
	root    *node
	started bool
	ids     int
}

func (f *FS) make(kind pathrule.Kind, text string) *node {
	f.ids++
	n := &node{kind: kind, text: text, born: f.started, id: f.ids}
	if kind == pathrule.Dir {
		n.entries = map[string]*node{}
	}
	return n
}

// New makes a tree. "a/b/" is a directory, "a/f" a file, "a/f = text" one with content, "a/l -> target" a link; directories above
// come into being by themselves.
func New(entries ...string) *FS {
	f := &FS{}
	f.root = f.make(pathrule.Dir, "")
	f.Add(entries...)
	return f
}

// Add puts more entries into the tree, in the notation of New. It panics on a broken notation, because it is for tests.
func (f *FS) Add(entries ...string) {
	for _, e := range entries {
		path, n := e, (*node)(nil)
		if p, target, ok := strings.Cut(e, " -> "); ok {
			path, n = p, f.make(pathrule.Link, target)
		} else if p, text, ok := strings.Cut(e, " = "); ok {
			path, n = p, f.make(pathrule.File, text)
		} else if strings.HasSuffix(e, "/") {
			n = f.make(pathrule.Dir, "")
		} else {
			n = f.make(pathrule.File, "")
		}
		parts := split(path)
		dir := f.root
		for _, name := range parts[:len(parts)-1] {
			next := dir.entries[name]
			if next == nil {
				next = f.make(pathrule.Dir, "")
				dir.entries[name] = next
			}
			if next.kind != pathrule.Dir {
				panic("memfs: " + e + ": " + name + " is not a directory")
			}
			dir = next
		}
		last := parts[len(parts)-1]
		if old := dir.entries[last]; old != nil && old.kind == pathrule.Dir && n.kind == pathrule.Dir {
			continue
		}
		dir.entries[last] = n
	}
}

// Start says that the command starts now.
func (f *FS) Start() { f.started = true }

func split(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

// at finds a node without following links; every component but the last must be a directory.
func (f *FS) at(path string) *node {
	n := f.root
	if path == "/" {
		return n
	}
	for _, name := range split(path) {
		if n.kind != pathrule.Dir {
			return nil
		}
		if n = n.entries[name]; n == nil {
			return nil
		}
	}
	return n
}

// Lstat implements pathrule.FS.
func (f *FS) Lstat(path string) pathrule.Kind {
	if n := f.at(path); n != nil {
		return n.kind
	}
	return pathrule.Missing
}

// Readlink implements pathrule.FS.
func (f *FS) Readlink(path string) string {
	if n := f.at(path); n != nil && n.kind == pathrule.Link {
		return n.text
	}
	return ""
}

// ReadDir implements pathrule.FS. Entries come in the order of their names.
func (f *FS) ReadDir(path string, visit func(name []byte, kind pathrule.Kind)) error {
	n := f.at(path)
	if n == nil || n.kind != pathrule.Dir {
		return ErrNotExist
	}
	for _, name := range n.names() {
		visit([]byte(name), n.entries[name].kind)
	}
	return nil
}

func (n *node) names() []string {
	out := make([]string, 0, len(n.entries))
	for name := range n.entries {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// ReadFile implements pathrule.FS.
func (f *FS) ReadFile(path string) []byte {
	if n := f.at(path); n != nil && n.kind == pathrule.File {
		return []byte(n.text)
	}
	return nil
}

// BornAfterStart implements pathrule.FS.
func (f *FS) BornAfterStart(path string) bool {
	n := f.at(path)
	return n != nil && n.born
}

// Paths lists everything below "/", parents first.
func (f *FS) Paths() []string {
	var out []string
	var walk func(n *node, at string)
	walk = func(n *node, at string) {
		for _, name := range n.names() {
			out = append(out, at+"/"+name)
			walk(n.entries[name], at+"/"+name)
		}
	}
	walk(f.root, "")
	return out
}

// Clone gives an independent copy.
func (f *FS) Clone() *FS {
	copies := map[*node]*node{} // a hard link stays one
	var dup func(n *node) *node
	dup = func(n *node) *node {
		if c := copies[n]; c != nil {
			return c
		}
		c := *n
		copies[n] = &c
		if n.entries != nil {
			c.entries = make(map[string]*node, len(n.entries))
			for name, e := range n.entries {
				c.entries[name] = dup(e)
			}
		}
		return &c
	}
	return &FS{root: dup(f.root), started: f.started, ids: f.ids}
}

// ID tells inodes apart, also across clones; 0 for nothing.
func (f *FS) ID(path string) int {
	if n := f.at(path); n != nil {
		return n.id
	}
	return 0
}
