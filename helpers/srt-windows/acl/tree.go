package acl

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// read opens a path as itself and reads its list, once a plan.
func (p *planner) read(path string) (winapi.Object, sd.Descriptor, error) {
	o, err := p.api.Resolve(path)
	if err != nil {
		return o, sd.Descriptor{}, refused("open", path, err, "it was there a moment ago, or a link has taken its place: try again")
	}
	key := identity(o)
	if d, ok := p.lists[key]; ok {
		return o, d, nil
	}
	d, err := p.api.Security(o)
	if err != nil {
		return o, d, refused("read the access list of", path, err, "name only files whose permissions you may read")
	}
	p.lists[key] = d
	return o, d, nil
}

// alone refuses a path beside which another name stands that folds to the same, in a directory that tells case apart or by a letter that
// Windows does not fold. The rules know one of them only, and an earlier command may have made the other so that it draws the entries.
func (p *planner) alone(path string) error {
	dir := winpath.Parent(path)
	twins, known := p.twins[winpath.Key(dir)]
	if !known {
		entries, err := p.api.List(dir)
		if err != nil && !errors.Is(err, winapi.ErrAccessDenied) { // where the user may not look no command of the user's has been
			return refused("look beside", path, err, "it was there a moment ago: try again")
		}
		twins = map[string][2]string{}
		seen := map[string]string{}
		for _, e := range entries {
			key := winpath.Key(e.Name)
			if first, twice := seen[key]; twice {
				twins[key] = [2]string{min(first, e.Name), max(first, e.Name)}
			}
			seen[key] = e.Name
		}
		p.twins[winpath.Key(dir)] = twins
	}
	if t, twice := twins[winpath.Key(winpath.Base(path))]; twice {
		return fault("guard", path, fmt.Sprintf("%q and %q lie beside each other, and a rule for one would be taken for the other's", t[0], t[1]), "rename or remove one of them")
	}
	return nil
}

// add plans entries for one object, and refuses here what could only fail later.
func (p *planner) add(path, why string, entries ...sd.ACE) error {
	o, d, err := p.read(path)
	if err != nil {
		return err
	}
	if err := p.keepsLists(o.Path); err != nil {
		return err
	}
	if allowed, known := sd.Check(d, callerToken(p.who.Caller), sd.WriteDAC, sd.FileMapping); !allowed && known && !p.maybeMore(d) {
		return refused("change the access list of", o.Path, winapi.ErrAccessDenied, "only files whose permissions you may change can be granted or denied; ask their owner, or name other paths")
	}
	if _, _, err := d.Add(entries...); err != nil {
		return refused("change the access list of", o.Path, err, "repair its permissions first: Properties, Security, Advanced shows what is wrong")
	}
	key := identity(o)
	c := p.change[key]
	if c == nil {
		c = &Change{Object: o, Why: why}
		p.change[key] = c
		p.order = append(p.order, key)
	}
next:
	for _, e := range entries {
		for i, have := range c.Add {
			switch {
			case have.Equal(e):
				continue next
			case have.Kind == e.Kind && have.Flags == e.Flags && have.SID == e.SID: // one entry for all reasons
				c.Add[i].Mask |= e.Mask
				continue next
			}
		}
		c.Add = append(c.Add, e)
	}
	return nil
}

// maybeMore says whether the list names groups that the caller could be in; whether it really may is then left to the call itself.
func (p *planner) maybeMore(d sd.Descriptor) bool {
	for _, a := range d.DACL {
		if a.Opaque != nil || a.Kind == sd.Allow && sd.FileMapping.Map(a.Mask)&sd.WriteDAC != 0 && a.SID != sd.LocalSystem && a.SID != sd.Administrators &&
			a.SID != sd.CreatorOwner && a.Flags&sd.InheritOnly == 0 {
			return true
		}
	}
	return false
}

func (p *planner) keepsLists(path string) error {
	root := winpath.Root(path)
	if p.kinds[root] {
		return nil
	}
	fs, ok, err := p.api.KeepsACLs(path)
	if err != nil {
		return fmt.Errorf("ask what keeps %q: %w", root, err)
	}
	if !ok {
		return fault("guard", path, fmt.Sprintf("drive %s is %s, which keeps no access lists", root, fs), "work on an NTFS or ReFS drive")
	}
	p.kinds[root] = true
	return nil
}

// refusal is a Fault that keeps its cause for errors.Is.
type refusal struct {
	*wire.Fault
	cause error
}

func (r refusal) Unwrap() []error { return []error{r.Fault, r.cause} }

func refused(op, path string, err error, hint string) error {
	return refusal{&wire.Fault{Code: wire.CodePolicy, Op: op, Path: path, Detail: err.Error(), Hint: hint}, err}
}

// loose finds objects at or below path, in the same region, whose own entries give rights that an inherited denial does not take away.
func (p *planner) loose(path string, o winapi.Object, want region, mask uint32) ([]string, error) {
	if !o.Dir {
		return nil, nil
	}
	entries, err := p.api.List(path)
	if err != nil {
		return nil, refused("look below", path, err, "a directory that you cannot list cannot be judged; name others")
	}
	var out []string
	for _, e := range entries {
		if winpath.CheckName(e.Name) != nil {
			return nil, fault("look below", path, fmt.Sprintf("it holds the name %q, which most programs cannot open", e.Name), "rename it")
		}
		child := winpath.Join(path, e.Name)
		if p.budget--; p.budget < 0 {
			return nil, fault("look below", path, fmt.Sprintf("more than %d objects lie below the denied paths", maxVisited), "name smaller directories")
		}
		if m := p.marks[winpath.Key(child)]; m != nil && (e.Link || p.regionOf(m.Path) != want) {
			continue // planned for by itself
		}
		co, d, err := p.read(child)
		if err != nil {
			if errors.Is(err, winapi.ErrFileNotFound) {
				continue // gone in between
			}
			return nil, err
		}
		own := d
		if !d.Protected && !d.NoDACL {
			own.DACL = nil
			for _, a := range d.DACL {
				if a.Flags&sd.Inherited == 0 {
					own.DACL = append(own.DACL, a)
				}
			}
		}
		own.Owner = "" // the command's token is no owner: its own identifier is not among the restricting ones
		if p.could(own)&mask != 0 {
			out = append(out, child)
		}
		if !e.Link && co.Dir {
			more, err := p.loose(child, co, want, mask)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, nil
}

// denyEach repeats a denial on objects that would not heed the inherited one.
func (p *planner) denyEach(paths []string, rule string, entry sd.ACE) error {
	for _, path := range paths {
		o, _, err := p.read(path)
		if err != nil {
			return err
		}
		if err := p.add(path, "its own access list would undo "+rule, both(entry, o.Dir)); err != nil {
			return err
		}
	}
	return nil
}
