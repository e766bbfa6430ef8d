package acl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// mark plans for one path of which the policy says something.
func (p *planner) mark(m *pathrule.Mark) error {
	path := native(m.Path)
	if m.Kind == pathrule.Missing {
		return nil
	}
	if err := p.alone(path); err != nil {
		return err
	}
	if m.Kind == pathrule.Link {
		if m.DenyWrite != "" && p.rules.Writable(parentOf(m.Path)) { // the link itself must stay what it is
			if err := p.add(path, "denyWrite "+m.DenyWrite, p.deny(sd.MaskWrite)); err != nil {
				return err
			}
			return p.pinAbove(path, m.DenyWrite)
		}
		return nil
	}
	self, up := p.regionOf(m.Path), p.regionOf(parentOf(m.Path))
	if winpath.Parent(path) == path {
		up = ordinary
	}
	var err error
	switch self {
	case hidden:
		err = p.hide(path, m.DenyRead, up)
	case readable:
		err = p.openToRead(path, m, up)
	case writable:
		if up != writable {
			err = p.openToWrite(path, m)
		}
	case ordinary:
		if m.DenyWrite != "" {
			err = p.shutOrdinary(path, m)
		}
	}
	if err == nil && m.Pin != "" && self == writable {
		if err = p.add(path, m.Pin, p.deny(sd.Delete)); err == nil {
			err = p.pinAbove(path, m.Pin)
		}
	}
	return err
}

func (p *planner) deny(mask uint32) sd.ACE {
	return sd.ACE{Kind: sd.Deny, Mask: mask, SID: p.who.Group}
}

// both gives an entry for a directory and what lies below it, or for a file.
func both(a sd.ACE, dir bool) sd.ACE {
	if dir {
		a.Flags |= sd.Inherit
	}
	return a
}

func below(a sd.ACE) sd.ACE {
	a.Flags |= sd.Inherit | sd.InheritOnly
	return a
}

// hide denies a path. That it is there is no secret: its own attributes may be asked for.
func (p *planner) hide(path, rule string, up region) error {
	o, list, err := p.read(path)
	if err != nil {
		return err
	}
	loose, err := p.loose(path, o, hidden, sd.MaskAll&^sd.MaskPass)
	if err != nil {
		return err
	}
	if up == hidden {
		return p.denyEach(loose, rule, p.deny(sd.MaskAll))
	}
	entries := []sd.ACE{p.deny(sd.MaskAll &^ (sd.ReadAttributes | sd.ReadControl | sd.Synchronize))}
	if o.Dir {
		entries = []sd.ACE{p.deny(sd.MaskAll &^ sd.MaskPass), below(p.deny(sd.MaskAll))}
	}
	if up == ordinary && len(loose) == 0 && p.could(list)&(sd.MaskAll&^sd.MaskPass) == 0 {
		p.plan.Shut = append(p.plan.Shut, Change{o, entries, "denyRead " + rule})
		return nil // the account could not read it anyway
	}
	if err := p.add(path, "denyRead "+rule, entries...); err != nil {
		return err
	}
	if err := p.denyEach(loose, rule, p.deny(sd.MaskAll)); err != nil {
		return err
	}
	return p.pinAbove(path, rule)
}

// openToRead grants reading, and denies changes where they would be inherited.
func (p *planner) openToRead(path string, m *pathrule.Mark, up region) error {
	o, list, err := p.read(path)
	if err != nil {
		return err
	}
	grant := both(sd.ACE{Kind: sd.Allow, Mask: sd.MaskRead, SID: p.who.Group}, o.Dir)
	if p.writeAbove(path) && (m.DenyWrite != "" || up != readable) {
		loose, err := p.loose(path, o, readable, sd.MaskWrite)
		if err != nil {
			return err
		}
		rule := "denyWrite " + m.DenyWrite
		if m.DenyWrite == "" {
			rule = "allowRead " + m.AllowRead + " in what is not writable"
		}
		if err := p.add(path, rule, both(p.deny(sd.MaskWrite), o.Dir), grant); err != nil {
			return err
		}
		if err := p.denyEach(loose, rule, p.deny(sd.MaskWrite)); err != nil {
			return err
		}
		return p.pinAbove(path, rule)
	}
	if m.DenyWrite != "" {
		if err := p.shutOrdinary(path, m); err != nil {
			return err
		}
	}
	if up == readable || up == ordinary && p.has(list)&sd.MaskRead == sd.MaskRead && p.handsDownRead(list, o.Dir) {
		return nil
	}
	why := "allowRead " + m.AllowRead
	switch {
	case m.AllowRead != "":
	case m.AllowWrite != "":
		why = "allowWrite " + m.AllowWrite + " under a denyWrite: reading only"
	default:
		why = "denyWrite " + m.DenyWrite + " leaves reading"
	}
	if err := p.add(path, why, grant); err != nil {
		return err
	}
	return p.pass(path, up)
}

// openToWrite makes path a root. The root itself cannot be moved or removed, what lies below can.
func (p *planner) openToWrite(path string, m *pathrule.Mark) error {
	o, list, err := p.read(path)
	if err != nil {
		return err
	}
	root := Root{Path: o.Path, SID: sd.ForRoot(fmt.Sprintf("%016x %s", o.Volume, winpath.Key(o.Path)))}
	p.plan.Roots = append(p.plan.Roots, root)
	rule := m.AllowWrite
	if rule == "" {
		rule = m.AllowRead
	}
	if err := p.add(path, "allowWrite "+rule, p.deny(sd.Delete)); err != nil { // also where other entries would let the root be moved
		return err
	}
	for _, sid := range []sd.SID{p.who.Group, root.SID} { // the first half of the check asks for one, the second for the other
		entries := []sd.ACE{{Kind: sd.Allow, Mask: sd.MaskContent, SID: sid}}
		if o.Dir {
			entries = append(entries, below(sd.ACE{Kind: sd.Allow, Mask: sd.MaskModify, SID: sid}))
		}
		if err := p.add(path, "allowWrite "+rule, entries...); err != nil {
			return err
		}
	}
	if o.Dir && keepsOwnControl(list, p.who.Caller) {
		// A command owns what it makes, and an owner may change the list; this takes that away. The user has more than an owner's rights.
		if err := p.add(path, "allowWrite "+rule, below(sd.ACE{Kind: sd.Allow, Mask: sd.ReadControl, SID: sd.OwnerRights})); err != nil {
			return err
		}
	}
	return p.pass(path, p.regionOf(parentOf(slashed(path))))
}

// keepsOwnControl says whether the list hands the user the right to change lists, so that being the owner is not all that the user has.
func keepsOwnControl(d sd.Descriptor, user sd.SID) bool {
	return slices.ContainsFunc(d.DACL, func(a sd.ACE) bool {
		return a.Opaque == nil && a.Kind == sd.Allow && a.SID == user && a.Flags&sd.Inherit == sd.Inherit &&
			sd.FileMapping.Map(a.Mask)&sd.WriteDAC != 0
	})
}

// shutOrdinary is for a write denial where srt grants nothing: an entry is needed only where everybody may write.
func (p *planner) shutOrdinary(path string, m *pathrule.Mark) error {
	o, list, err := p.read(path)
	if err != nil {
		return err
	}
	ok := false
	for bit := uint32(1); bit <= sd.WriteOwner; bit <<= 1 {
		if bit&sd.MaskWrite != 0 {
			allowed, known := sd.Check(p.without(list, sd.Deny), p.commandToken(), bit, sd.FileMapping)
			ok = ok || allowed || !known
		}
	}
	if !ok {
		return nil
	}
	return p.add(path, "denyWrite "+m.DenyWrite, both(p.deny(sd.MaskWrite), o.Dir))
}

// pinAbove keeps the directories between a denied path and its writable root from being moved away with it.
func (p *planner) pinAbove(path, rule string) error {
	for q := winpath.Parent(path); p.rules.Writable(slashed(q)); q = winpath.Parent(q) {
		mask := uint32(sd.MaskPinned)
		last := q == winpath.Parent(q) || !p.rules.Writable(parentOf(slashed(q)))
		if last {
			mask = sd.DeleteChild // the root has no right to be moved in the first place
		}
		if err := p.add(q, "holds "+path+" ("+rule+")", p.deny(mask)); err != nil {
			return err
		}
		if last {
			break
		}
	}
	return nil
}

// pass lets the directories above a grant be looked at where they cannot be by themselves. Windows needs none of it to open the path,
// but many programs look at each directory on the way. Where the user may not change the list it is left out and noted.
func (p *planner) pass(path string, up region) error {
	for q := winpath.Parent(path); q != winpath.Parent(q); q = winpath.Parent(q) {
		o, list, err := p.read(q)
		if err != nil {
			if errors.Is(err, winapi.ErrAccessDenied) {
				p.plan.Notes = append(p.plan.Notes, fmt.Sprintf("%q cannot be looked at by the command", q))
				continue
			}
			return err
		}
		shut := p.regionOf(slashed(q)) == hidden
		if !shut && p.has(list)&sd.MaskPass == sd.MaskPass {
			continue
		}
		if allowed, _ := sd.Check(list, callerToken(p.who.Caller), sd.WriteDAC, sd.FileMapping); !allowed {
			p.plan.Notes = append(p.plan.Notes, fmt.Sprintf("%q cannot be looked at by the command", q))
			continue
		}
		if err := p.add(o.Path, "lies above "+path, sd.ACE{Kind: sd.Allow, Mask: sd.MaskPass, SID: p.who.Group}); err != nil {
			return err
		}
	}
	return nil
}

func callerToken(user sd.SID) sd.Token {
	return sd.Token{User: user, Groups: []sd.SID{sd.Everyone, sd.Users, sd.AuthenticatedUsers, sd.Interactive, sd.LocalAccount}}
}

// accountToken is the account's ordinary token.
func (p *planner) accountToken() sd.Token {
	return account.Token(account.IDs{User: p.who.Account, Group: p.who.Group})
}

// commandToken is the token of a command without any root.
func (p *planner) commandToken() sd.Token {
	t := p.accountToken()
	t.Restricting, t.WriteRestricted = limits.Restricting, true
	return t
}

// could are the rights that the account may come to have: what denies them for the group may be another command's, and goes with that one.
func (p *planner) could(d sd.Descriptor) uint32 { return p.rights(p.without(d, sd.Deny)) }

// has are the rights that the account keeps when other commands' grants to the group have gone with them.
func (p *planner) has(d sd.Descriptor) uint32 { return p.rights(p.without(d, sd.Allow)) }

// without is a list without the entries of one kind for srt's group.
func (p *planner) without(d sd.Descriptor, kind byte) sd.Descriptor {
	d.DACL = slices.DeleteFunc(slices.Clone(d.DACL), func(a sd.ACE) bool { return a.Opaque == nil && a.Kind == kind && a.SID == p.who.Group })
	return d
}

// rights are what a list gives the account's ordinary token, right by right. What cannot be judged counts as given.
func (p *planner) rights(d sd.Descriptor) uint32 {
	var out uint32
	for bit := uint32(1); bit <= sd.Synchronize; bit <<= 1 {
		if bit&sd.MaskAll == 0 {
			continue
		}
		if allowed, known := sd.Check(d, p.accountToken(), bit, sd.FileMapping); allowed || !known {
			out |= bit
		}
	}
	return out
}

// handsDownRead says whether reading is inherited below, so that a grant of srt's adds nothing.
func (p *planner) handsDownRead(d sd.Descriptor, dir bool) bool {
	if !dir {
		return true
	}
	child := sd.Descriptor{Owner: d.Owner}.InheritFrom(d, true)
	return p.has(child)&sd.MaskRead == sd.MaskRead
}
