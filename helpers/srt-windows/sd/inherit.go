package sd

import "slices"

// InheritFrom gives the list that an object has under a parent with this list: its own explicit entries, then what the parent hands
// down, in the parent's order. A protected descriptor stays as it is.
func (d Descriptor) InheritFrom(parent Descriptor, dir bool) Descriptor {
	if d.Protected || d.NoDACL {
		return d
	}
	out := d
	out.DACL = d.explicit()
	for _, a := range parent.DACL {
		out.DACL = append(out.DACL, handDown(a, dir, d.Owner)...)
	}
	return out
}

func (d Descriptor) explicit() []ACE {
	var out []ACE
	for _, a := range d.DACL {
		if a.Flags&Inherited == 0 {
			out = append(out, a)
		}
	}
	return out
}

// Spread gives the list of an object after its parent's list has changed from was to is. Where the object's inherited entries are what
// the parent handed down, they become what it hands down now, to the bit. Where they are something else (the object was moved here, or
// another program wrote them) they are left alone, and only the difference is put in or taken out: denials in front of the other
// inherited entries, grants behind them, so that neither can open what was closed. An entry that a run cut short has put in or taken out
// already is not counted twice: an equal one may have come down from further above, for another command.
func (d Descriptor) Spread(was, is Descriptor, dir bool) Descriptor {
	if d.Protected || d.NoDACL {
		return d
	}
	if slices.EqualFunc(d.DACL, d.InheritFrom(was, dir).DACL, ACE.Equal) {
		return d.InheritFrom(is, dir)
	}
	before, after := handAll(was, dir, d.Owner), handAll(is, dir, d.Owner)
	out := d
	out.DACL = slices.Clone(d.DACL)
	for _, a := range missing(before, after) {
		if count(out.DACL, a) > count(after, a) {
			out, _ = out.Remove(a)
		}
	}
	for _, a := range missing(after, before) {
		if count(out.DACL, a) >= count(after, a) {
			continue
		}
		if a.Opaque == nil && a.Kind == Deny {
			at := slices.IndexFunc(out.DACL, func(x ACE) bool { return x.Flags&Inherited != 0 })
			if at < 0 {
				at = len(out.DACL)
			}
			out.DACL = slices.Insert(out.DACL, at, a)
		} else {
			out.DACL = append(out.DACL, a)
		}
	}
	return out
}

func handAll(parent Descriptor, dir bool, owner SID) []ACE {
	var out []ACE
	for _, a := range parent.DACL {
		out = append(out, handDown(a, dir, owner)...)
	}
	return out
}

func count(list []ACE, a ACE) int {
	n := 0
	for _, x := range list {
		if x.Equal(a) {
			n++
		}
	}
	return n
}

// missing gives what of a is not in b, counting.
func missing(a, b []ACE) []ACE {
	left := slices.Clone(b)
	var out []ACE
	for _, x := range a {
		if at := slices.IndexFunc(left, x.Equal); at >= 0 {
			left = slices.Delete(left, at, at+1)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// handDown gives what a child inherits of one entry of its parent: nothing, one entry, or two where the entry names the creator or
// generic rights, because what holds for the child itself is then another entry than what it hands on.
func handDown(a ACE, dir bool, owner SID) []ACE {
	want := ObjectInherit
	if dir {
		want = ContainerInherit
	}
	passOn := dir && a.Flags&ObjectInherit != 0 && a.Flags&NoPropagate == 0 // a directory carries a files-only entry for its own files
	if a.Flags&want == 0 && !passOn {
		return nil
	}
	h := a
	h.Flags = Inherited
	if dir && a.Flags&NoPropagate == 0 {
		h.Flags |= a.Flags & Inherit
		if a.Flags&ContainerInherit == 0 {
			h.Flags |= InheritOnly
		}
	}
	if h.Opaque != nil {
		return []ACE{h}
	}
	effective := h
	effective.Mask = FileMapping.Map(h.Mask)
	if h.SID == CreatorOwner {
		effective.SID = owner
	}
	if effective.Equal(h) || h.Flags&InheritOnly != 0 {
		return []ACE{h}
	}
	effective.Flags = Inherited
	if h.Flags&Inherit == 0 {
		return []ACE{effective}
	}
	h.Flags |= InheritOnly
	return []ACE{effective, h}
}
