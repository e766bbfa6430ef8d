package acl

import (
	"slices"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// remember takes down what is there before a plan is carried out, and what it grants.
func (x *world) remember(plan Plan) {
	x.before, x.grants = map[string]sd.Descriptor{}, map[string][]sd.ACE{}
	for path := top; path != winpath.Parent(path); path = winpath.Parent(path) {
		x.before[winpath.Key(path)] = x.w.Descriptor(path)
	}
	for _, path := range x.paths {
		x.before[winpath.Key(path)] = x.w.Descriptor(path)
	}
	for _, c := range plan.Changes {
		for _, a := range c.Add {
			if a.Kind == sd.Allow && a.SID == group {
				x.grants[winpath.Key(c.Object.Path)] = append(x.grants[winpath.Key(c.Object.Path)], a)
			}
		}
	}
}

// has says what the lists gave before; a directory's right over its entries counts for removing.
func (x *world) has(token sd.Token, path string, mask uint32) bool {
	ok, _ := sd.Check(x.before[winpath.Key(path)], token, mask, sd.FileMapping)
	if mask == sd.Delete && !ok {
		ok, _ = sd.Check(x.before[winpath.Key(winpath.Parent(path))], token, sd.DeleteChild, sd.FileMapping)
	}
	return ok
}

// changeable says whether the user can find an object and change its list, without which nothing is handed down to it.
func (x *world) changeable(path string) bool {
	list, _ := sd.Check(x.before[winpath.Key(winpath.Parent(path))], callerToken(fake.Alice), sd.ReadData, sd.FileMapping)
	change, _ := sd.Check(x.before[winpath.Key(path)], callerToken(fake.Alice), sd.ReadControl|sd.WriteDAC, sd.FileMapping)
	return list && change
}

// reached says whether a grant gets to an object: it stands on it, or comes down from above past objects that inherit, and nobody's
// denial that was there before goes in front of it.
func (x *world) reached(token sd.Token, path string, mask uint32) bool {
	if x.has(token, path, mask) {
		return true
	}
	explicit := func(q string) []sd.ACE {
		return slices.DeleteFunc(slices.Clone(x.before[winpath.Key(q)].DACL), func(a sd.ACE) bool { return a.Flags&sd.Inherited != 0 })
	}
	kind := uint32(sd.WriteData) // where files may be written everything that writing means must be given
	if mask == sd.ReadData {
		kind = sd.ReadData
	}
	granted := func(q string) bool {
		return slices.ContainsFunc(x.grants[winpath.Key(q)], func(a sd.ACE) bool {
			return a.Mask&kind != 0 && (q == path && a.Flags&sd.InheritOnly == 0 || q != path && a.Flags&sd.Inherit != 0)
		})
	}
	for q := path; ; q = winpath.Parent(q) { // nearer entries go first, denials of one object before its grants
		for _, a := range explicit(q) {
			holds := q == path && a.Flags&sd.InheritOnly == 0 || q != path && a.Flags&sd.Inherit != 0
			if a.Kind == sd.Deny && holds && a.Mask&mask != 0 && (a.SID == token.User || slices.Contains(token.Groups, a.SID)) {
				return false
			}
		}
		if granted(q) {
			return true
		}
		if x.before[winpath.Key(q)].Protected || !x.changeable(q) || q == winpath.Parent(q) {
			return false
		}
	}
}
