package sd

import "slices"

// Token is what AccessCheck looks at in a token. The zero value is let in nowhere.
type Token struct {
	User            SID
	UserDenyOnly    bool
	Groups          []SID // enabled
	DenyOnly        []SID // count for denials only
	Restricting     []SID // empty: an ordinary token
	WriteRestricted bool  // Restricting is asked about writes only
}

// holds says whether an entry for sid speaks of the token; denial entries also speak of deny-only SIDs.
func (t Token) holds(sid SID, deny bool) bool {
	return sid != "" && (sid == t.User && (deny || !t.UserDenyOnly) || slices.Contains(t.Groups, sid) || deny && slices.Contains(t.DenyOnly, sid))
}

// Check is the model of AccessCheck: may the token have all of desired (specific rights) on an object with this descriptor?
// known is false when an entry that srt does not understand could change the answer; allowed is then false as well.
func Check(d Descriptor, t Token, desired uint32, m Mapping) (allowed, known bool) {
	ordinary := func(sid SID, deny bool) bool { return t.holds(sid, deny) }
	restricted := func(sid SID, _ bool) bool { return slices.Contains(t.Restricting, sid) }
	allowed, known = walk(d, desired, m, ordinary)
	if !allowed || len(t.Restricting) == 0 {
		return allowed, known
	}
	if t.WriteRestricted {
		desired &= m.writes()
	}
	if desired == 0 {
		return allowed, known
	}
	second, sure := walk(d, desired, m, restricted)
	return second, known && sure
}

// walk reads the list once, in order, as Windows does: the first entry that speaks of a right decides it.
func walk(d Descriptor, desired uint32, m Mapping, holds func(SID, bool) bool) (allowed, known bool) {
	if d.NoDACL {
		return true, true
	}
	left := desired
	if holds(d.Owner, false) && !slices.ContainsFunc(d.DACL, func(a ACE) bool { return a.SID == OwnerRights && a.Flags&InheritOnly == 0 }) {
		left &^= ReadControl | WriteDAC // what an owner may always do, whatever the list says
	}
	for _, a := range d.DACL {
		if left == 0 {
			break
		}
		if a.Flags&InheritOnly != 0 {
			continue
		}
		if a.Opaque != nil {
			return false, false
		}
		mask, sid := m.Map(a.Mask), a.SID
		if sid == OwnerRights {
			sid = d.Owner
		}
		switch {
		case !holds(sid, a.Kind == Deny):
		case a.Kind == Deny && mask&left != 0:
			return false, true
		case a.Kind == Allow:
			left &^= mask
		}
	}
	return left == 0, true
}
