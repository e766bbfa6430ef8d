package fake

import (
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

// layFiles makes the directories of a fresh machine with the access lists that Windows gives them.
func (w *Windows) layFiles() {
	w.root = &node{name: `C:\`, dir: true, id: 5, children: map[string]*node{}, security: sd.Descriptor{Owner: sd.LocalSystem, DACL: []sd.ACE{
		{Mask: sd.MaskAll, Flags: sd.Inherit, SID: sd.LocalSystem},
		{Mask: sd.MaskAll, Flags: sd.Inherit, SID: sd.Administrators},
		{Mask: sd.MaskRead, Flags: sd.Inherit, SID: sd.Users},
		{Mask: sd.AppendData, SID: sd.AuthenticatedUsers},
		{Mask: 0x1301BF, Flags: sd.Inherit | sd.InheritOnly, SID: sd.AuthenticatedUsers},
	}}}
	own := func(path string, owner sd.SID, aces ...sd.ACE) {
		n := w.mk(path, true)
		n.security = sd.Descriptor{Owner: owner, Protected: true, DACL: append([]sd.ACE{
			{Mask: sd.MaskAll, Flags: sd.Inherit, SID: sd.LocalSystem}, {Mask: sd.MaskAll, Flags: sd.Inherit, SID: sd.Administrators}}, aces...)}
	}
	own(`C:\Windows`, sd.LocalSystem, sd.ACE{Mask: sd.MaskRead, Flags: sd.Inherit, SID: sd.Users})
	own(`C:\Program Files`, sd.LocalSystem, sd.ACE{Mask: sd.MaskRead, Flags: sd.Inherit, SID: sd.Users})
	own(`C:\ProgramData`, sd.LocalSystem, sd.ACE{Mask: sd.MaskRead, Flags: sd.Inherit, SID: sd.Users},
		sd.ACE{Mask: 0x116, Flags: sd.ContainerInherit, SID: sd.Users}, sd.ACE{Mask: sd.MaskAll, Flags: sd.Inherit | sd.InheritOnly, SID: sd.CreatorOwner})
	own(`C:\Users`, sd.LocalSystem, sd.ACE{Mask: sd.MaskRead, Flags: sd.Inherit, SID: sd.Users})
	own(`C:\Users\alice`, Alice, sd.ACE{Mask: sd.MaskAll, Flags: sd.Inherit, SID: Alice})
	own(`C:\Users\bob`, Bob, sd.ACE{Mask: sd.MaskAll, Flags: sd.Inherit, SID: Bob})
}

// mk makes a path with what is missing above it, owned by alice, inheriting. It is for tests and counts as no call.
func (w *Windows) mk(path string, dir bool) *node {
	at := w.root
	parts := strings.Split(strings.Trim(path[2:], `\`), `\`)
	for i, part := range parts {
		next := at.children[upper(part)]
		if next == nil {
			next = w.child(at, part, dir || i < len(parts)-1, Alice)
		}
		at = next
	}
	return at
}

func (w *Windows) child(parent *node, name string, dir bool, owner sd.SID) *node {
	w.nextID++
	n := &node{name: name, dir: dir, id: 1000 + w.nextID, parent: parent, children: map[string]*node{}}
	n.security = sd.Descriptor{Owner: owner, AutoInherited: true}.InheritFrom(parent.security, dir)
	parent.children[upper(name)] = n
	return n
}

// Mkdir, WriteFile, Link and the like lay a test's tree.
func (w *Windows) Mkdir(path string) { w.mu.Lock(); defer w.mu.Unlock(); w.mk(path, true) }

// WriteFile makes a file.
func (w *Windows) WriteFile(path string) { w.mu.Lock(); defer w.mu.Unlock(); w.mk(path, false) }

// SetContent makes a file with text in it.
func (w *Windows) SetContent(path, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mk(path, false).content = []byte(text)
}

// Link makes a junction or symbolic link.
func (w *Windows) Link(path, target string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.mk(path, true)
	n.link = target
}

// Short gives a component an 8.3 name.
func (w *Windows) Short(short, long string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.short[upper(short)] = upper(long)
}

// Own gives an object to another owner with a protected list of its own.
func (w *Windows) Own(path string, owner sd.SID, entries ...sd.ACE) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.mk(path, true)
	n.security = sd.Descriptor{Owner: owner, Protected: true, DACL: entries}
	w.propagate(n)
}

// Loosen adds explicit entries to an object, as another program would.
func (w *Windows) Loosen(path string, entries ...sd.ACE) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, _ := w.find(path)
	n.security.DACL = append(slices.Clone(entries), n.security.DACL...)
	w.propagate(n)
}

// FAT makes the whole volume one that keeps no access lists.
func (w *Windows) FAT() { w.mu.Lock(); defer w.mu.Unlock(); w.fsKind[`C:\`] = "FAT32" }

// Replace removes an object and makes another of the same name.
func (w *Windows) Replace(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, _ := w.find(path)
	delete(n.parent.children, upper(n.name))
	w.child(n.parent, n.name, n.dir, Alice)
}

// Remove takes an object away.
func (w *Windows) Remove(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, _ := w.find(path)
	delete(n.parent.children, upper(n.name))
}

// Lists gives the access list of every object, path → SDDL, to compare before and after.
func (w *Windows) Lists() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]string{}
	var walk func(n *node)
	walk = func(n *node) {
		out[n.path()] = n.security.String()
		for _, c := range n.children {
			walk(c)
		}
	}
	walk(w.root)
	return out
}

// Descriptor gives owner and list of an object, whoever may read them.
func (w *Windows) Descriptor(path string) sd.Descriptor {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.find(path)
	if err != nil {
		return sd.Descriptor{}
	}
	d := n.security
	d.DACL = slices.Clone(d.DACL)
	return d
}

// May says what the model lets a token do with an object.
func (w *Windows) May(t sd.Token, path string, mask uint32) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.find(path)
	if err != nil {
		return false
	}
	ok, _ := sd.Check(n.security, t, mask, sd.FileMapping)
	return ok
}
