package sd

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Kinds of ACE that srt understands. Others are carried as bytes.
const (
	Allow byte = 0
	Deny  byte = 1
)

// Flags of an ACE.
const (
	ObjectInherit    byte = 0x01 // files below inherit it
	ContainerInherit byte = 0x02 // directories below inherit it
	NoPropagate      byte = 0x04 // children inherit it, their children do not
	InheritOnly      byte = 0x08 // does not hold for the object itself
	Inherited        byte = 0x10 // came from above

	Inherit = ObjectInherit | ContainerInherit
)

// ACE is one entry of an access list. For a kind that srt does not understand Opaque holds the whole entry and only Flags is read.
type ACE struct {
	Kind   byte
	Flags  byte
	Mask   uint32
	SID    SID
	Opaque []byte
}

// Equal says whether both are the same entry to the bit.
func (a ACE) Equal(b ACE) bool {
	return a.Kind == b.Kind && a.Flags == b.Flags && a.Mask == b.Mask && a.SID == b.SID && bytes.Equal(a.Opaque, b.Opaque)
}

// Descriptor is owner, group and access list of one object.
type Descriptor struct {
	Owner, Group  SID
	NoDACL        bool // no access list at all: everybody may do everything
	Protected     bool // inherits nothing
	AutoInherited bool
	DACL          []ACE
}

// Errors of an edit. A caller turns them into a refusal before the command runs.
var (
	ErrNoDACL       = errors.New("the object has no access list, so everybody may do everything; adding an entry would lock everybody else out")
	ErrNotCanonical = errors.New("the access list is not in canonical order; adding an entry would change what the others mean")
)

// rank is the place of an ACE in canonical order: explicit deny, explicit allow, then whatever is inherited.
func rank(a ACE) int {
	switch {
	case a.Flags&Inherited != 0:
		return 2
	case a.Opaque == nil && a.Kind == Deny:
		return 0
	}
	return 1 // allow entries; an opaque entry is never moved, so its own rank only matters for the check
}

// Canonical says whether the explicit entries come first, denials before grants.
func (d Descriptor) Canonical() bool {
	return slices.IsSortedFunc(d.DACL, func(a, b ACE) int {
		if a.Opaque != nil && b.Opaque != nil && a.Flags&Inherited == b.Flags&Inherited {
			return 0
		}
		return rank(a) - rank(b)
	})
}

// Add gives the descriptor with the entries added, each at the end of its canonical group; one that is there already is not added again.
// The added ones are returned as well, because only those may be taken away later.
func (d Descriptor) Add(entries ...ACE) (Descriptor, []ACE, error) {
	if d.NoDACL {
		return d, nil, ErrNoDACL
	}
	if !d.Canonical() {
		return d, nil, ErrNotCanonical
	}
	out := d
	out.DACL = slices.Clone(d.DACL)
	var added []ACE
	for _, e := range entries {
		if e.Flags&Inherited != 0 || e.Opaque != nil || e.Kind > Deny {
			return d, nil, fmt.Errorf("add entry for %s: only plain explicit entries can be added (a bug, please report)", e.SID)
		}
		if slices.ContainsFunc(out.DACL, e.Equal) {
			continue
		}
		at := slices.IndexFunc(out.DACL, func(have ACE) bool { return rank(have) > rank(e) })
		if at < 0 {
			at = len(out.DACL)
		}
		out.DACL = slices.Insert(out.DACL, at, e)
		added = append(added, e)
	}
	return out, added, nil
}

// Remove gives the descriptor without the entries; each is taken away once, and only when it is there to the bit.
func (d Descriptor) Remove(entries ...ACE) (Descriptor, int) {
	out, removed := d, 0
	out.DACL = slices.Clone(d.DACL)
	for _, e := range entries {
		if at := slices.IndexFunc(out.DACL, e.Equal); at >= 0 {
			out.DACL = slices.Delete(out.DACL, at, at+1)
			removed++
		}
	}
	return out, removed
}
