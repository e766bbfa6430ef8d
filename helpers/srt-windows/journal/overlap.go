package journal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/srt-dev/srt/helpers/srt-windows/acl"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// claim writes down denials that are not on disk.
func claim(s *state, holder Holder, shut []acl.Change) {
	for _, c := range shut {
		for _, a := range c.Add {
			if at := slices.IndexFunc(s.Entries, func(e Entry) bool { return e.same(c.Object, a) }); at < 0 {
				e := entryOf(c, a, holder)
				e.Claim = true
				s.Entries = append(s.Entries, e)
			} else if !slices.Contains(s.Entries[at].Holders, holder) {
				s.Entries[at].Holders = append(s.Entries[at].Holders, holder)
			}
		}
	}
}

// besideOthers gives the changes as they must be made while other commands run: what those are denied, and a grant from above would open,
// is put on disk first. A grant below what they are denied is refused: an entry on an object goes before the denial that it inherits, and
// both speak of the same group. The other order needs no refusal: a plan that denies sees the grants below, and denies each.
func (j *Journal) besideOthers(s *state, holder Holder, changes []acl.Change) ([]acl.Change, error) {
	others, err := j.running(s, holder)
	if err != nil {
		return nil, err
	}
	var first []acl.Change
	for _, x := range others {
		for _, c := range changes {
			if e, opens := x.opened(c); opens {
				return nil, &problem.Error{Code: problem.Running, Op: "grant", Path: c.Object.Path,
					Detail: fmt.Sprintf("a command that is running (process %d) is denied it (%s), and one access list holds for both", x.holder.Pid, e.Why),
					Fix:    "wait for that command, or give both the same rules there"}
			}
		}
		for _, here := range x.entries {
			for _, p := range here {
				if slices.ContainsFunc(changes, p.comesUnder) {
					first = append(first, acl.Change{Object: p.at, Add: []sd.ACE{p.ACE()}, Why: p.Why})
				}
			}
		}
	}
	for _, c := range first { // from here on they are on disk, and go with their holders
		for i := range s.Entries {
			if s.Entries[i].same(c.Object, c.Add[0]) {
				s.Entries[i].Claim = false
			}
		}
	}
	return append(first, changes...), nil
}

// placed is an entry of another running command, and where its object is now.
type placed struct {
	Entry
	at winapi.Object
}

// comesUnder says whether the denial's object would be let in by a change to it or to what lies above it.
func (p placed) comesUnder(c acl.Change) bool {
	self := winpath.Key(c.Object.Path) == winpath.Key(p.at.Path)
	return p.Kind == int(sd.Deny) && winpath.Within(c.Object.Path, p.at.Path) && slices.ContainsFunc(c.Add, func(a sd.ACE) bool {
		return a.Kind == sd.Allow && a.SID == p.SID && a.Mask&uint32(p.Mask) != 0 && (self || a.Flags&sd.Inherit != 0)
	})
}

// other is what another running command has on disk, where it is now.
type other struct {
	holder  Holder
	entries map[string][]placed // by key of the path
}

func (j *Journal) running(s *state, self Holder) ([]other, error) {
	var out []other
	for _, e := range s.Entries {
		o, err := e.object()
		if err != nil {
			return nil, err
		}
		switch o, err = j.api.Find(o); {
		case errors.Is(err, winapi.ErrFileNotFound):
			continue
		case err != nil:
			return nil, fmt.Errorf("find what was %q: %w", e.Path, err)
		}
		for _, h := range e.Holders {
			if h == self {
				continue
			}
			at := slices.IndexFunc(out, func(x other) bool { return x.holder == h })
			if at < 0 {
				at, out = len(out), append(out, other{h, map[string][]placed{}})
			}
			out[at].entries[winpath.Key(o.Path)] = append(out[at].entries[winpath.Key(o.Path)], placed{e, o})
		}
	}
	return out, nil
}

// opened gives the inherited denial of the other command that a change would go before. What the other grants itself nearer to the object,
// or denies on it, decides first.
func (x other) opened(c acl.Change) (Entry, bool) {
	for _, a := range c.Add {
		if a.Kind != sd.Allow {
			continue
		}
		left := a.Mask
		for _, d := range c.Add {
			if d.Kind == sd.Deny && d.SID == a.SID {
				left &^= d.Mask // on the object itself, so it goes first
			}
		}
		for q, self := c.Object.Path, true; left != 0; q, self = winpath.Parent(q), false {
			here := slices.DeleteFunc(slices.Clone(x.entries[winpath.Key(q)]), func(e placed) bool {
				return e.SID != a.SID || !self && byte(e.Flags)&sd.Inherit == 0
			})
			for _, e := range here {
				if e.Kind == int(sd.Deny) && uint32(e.Mask)&left != 0 && !self {
					return e.Entry, true
				}
			}
			for _, e := range here {
				left &^= uint32(e.Mask)
			}
			if q == winpath.Parent(q) {
				break
			}
		}
	}
	return Entry{}, false
}
