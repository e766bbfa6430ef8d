// Package journal puts access entries on the user's files and takes them away again. Each entry is written down before it is put on
// disk, with the commands that need it; the last one to end takes it away, and what a killed command left is taken away by the next.
// One journal belongs to one user. It must never remove an entry that it did not add, nor touch an object that took another's place.
package journal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/acl"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// Holder is one running srt-windows exec.
type Holder struct {
	Pid     uint64 `json:"pid"`
	Started uint64 `json:"started"` // creation time, so that a reused pid is not taken for it
}

// Entry is one access entry that srt put on one object.
type Entry struct {
	Path    string   `json:"path"`
	Volume  uint64   `json:"volume"`
	ID      string   `json:"id"` // hexadecimal file id
	Dir     bool     `json:"dir"`
	Kind    int      `json:"kind"`
	Flags   int      `json:"flags"`
	Mask    uint64   `json:"mask"`
	SID     sd.SID   `json:"sid"`
	Why     string   `json:"why"`
	Holders []Holder `json:"holders"`
	Claim   bool     `json:"claim,omitempty"` // a denial that is not on disk: nothing lets the account in so far (acl.Plan.Shut)
}

// ACE gives the entry as it stands on disk.
func (e Entry) ACE() sd.ACE {
	return sd.ACE{Kind: byte(e.Kind), Flags: byte(e.Flags), Mask: uint32(e.Mask), SID: e.SID}
}

func (e Entry) object() (winapi.Object, error) {
	o := winapi.Object{Path: e.Path, Volume: e.Volume, Dir: e.Dir}
	raw, err := hex.DecodeString(e.ID)
	if err != nil || len(raw) != len(o.ID) {
		return o, fmt.Errorf("the journal's id of %q is broken", e.Path)
	}
	copy(o.ID[:], raw)
	return o, nil
}

func (e Entry) same(o winapi.Object, a sd.ACE) bool {
	return e.Volume == o.Volume && e.ID == hex.EncodeToString(o.ID[:]) && e.ACE().Equal(a)
}

type state struct {
	Format  int     `json:"format"` // 1
	Entries []Entry `json:"entries"`
}

const maxJournal = 64 << 20

// Store keeps the journal's bytes. Lock is held over load, change on disk and save; another process waits.
type Store interface {
	Lock() (unlock func() error, err error)
	Load() ([]byte, error) // nothing yet: nil
	Save([]byte) error     // whole or not at all
}

// System is what the journal needs of Windows.
type System interface {
	winapi.Files
	winapi.Self
}

// Journal is one user's.
type Journal struct {
	api   System
	store Store
}

// New gives the journal kept in store.
func New(api System, store Store) *Journal { return &Journal{api, store} }

// locked runs work on the state; save writes it down.
func (j *Journal) locked(work func(s *state, save func() error) error) (err error) {
	unlock, err := j.store.Lock()
	if err != nil {
		return fmt.Errorf("lock the journal of access entries: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	raw, err := j.store.Load()
	if err != nil {
		return fmt.Errorf("read the journal of access entries: %w", err)
	}
	s := &state{Format: 1, Entries: []Entry{}}
	if raw != nil {
		if err := wire.Decode(raw, maxJournal, s); err != nil || s.Format != 1 {
			return &problem.Error{Code: problem.Incomplete, Op: "read the journal of access entries", Err: err, Detail: "it is damaged",
				Fix: "srt-windows acl forget --all --force drops it; entries for " + "srt-sandbox-users that are left on files then do nothing once srt is uninstalled"}
		}
	}
	return work(s, func() error {
		b, err := wire.Encode(s)
		if err != nil {
			return err
		}
		if err := j.store.Save(b); err != nil {
			return fmt.Errorf("write the journal of access entries: %w", err)
		}
		return nil
	})
}

// Acquire puts the changes of a plan on disk for holder, all or none, and reads each back. What ended commands left is taken away
// first; where that cannot be done a warning says so. The plan is made then, while no other command of this user can change a list.
func (j *Journal) Acquire(holder Holder, plan func() (acl.Plan, error)) (warnings []string, err error) {
	err = j.locked(func(s *state, save func() error) error {
		switch err := j.sweep(s, save); {
		case errors.Is(err, errLeft):
			warnings = append(warnings, err.Error())
		case err != nil:
			return err
		}
		p, err := plan()
		if err != nil {
			return err
		}
		changes, err := j.besideOthers(s, holder, p.Changes)
		if err != nil {
			return err
		}
		for _, c := range p.Changes {
			if err := j.note(s, holder, c); err != nil {
				return err
			}
		}
		claim(s, holder, p.Shut)
		if err := save(); err != nil { // before anything is on disk
			return err
		}
		for _, c := range changes {
			if err := j.put(c); err != nil {
				return errors.Join(err, j.drop(s, save, func(h Holder) bool { return h == holder }))
			}
		}
		return nil
	})
	return warnings, err
}

func entryOf(c acl.Change, a sd.ACE, holder Holder) Entry {
	return Entry{Path: c.Object.Path, Volume: c.Object.Volume, ID: hex.EncodeToString(c.Object.ID[:]), Dir: c.Object.Dir,
		Kind: int(a.Kind), Flags: int(a.Flags), Mask: uint64(a.Mask), SID: a.SID, Why: c.Why, Holders: []Holder{holder}}
}

// note writes down what a change will add. An entry that is on the object already and that srt did not put there is not srt's to remove.
func (j *Journal) note(s *state, holder Holder, c acl.Change) error {
	list, err := j.api.Security(c.Object)
	if err != nil {
		return fmt.Errorf("read the access list of %q: %w", c.Object.Path, err)
	}
	for _, a := range c.Add {
		at := slices.IndexFunc(s.Entries, func(e Entry) bool { return e.same(c.Object, a) })
		switch {
		case at >= 0:
			s.Entries[at].Claim = false
			if !slices.Contains(s.Entries[at].Holders, holder) {
				s.Entries[at].Holders = append(s.Entries[at].Holders, holder)
			}
		case !slices.ContainsFunc(list.DACL, a.Equal):
			s.Entries = append(s.Entries, entryOf(c, a, holder))
		}
	}
	return nil
}

func (j *Journal) put(c acl.Change) error {
	list, err := j.api.Security(c.Object)
	if err != nil {
		return fmt.Errorf("read the access list of %q: %w", c.Object.Path, err)
	}
	want, added, err := list.Add(c.Add...)
	if err != nil {
		return fmt.Errorf("change the access list of %q: %w", c.Object.Path, err)
	}
	if len(added) > 0 {
		if err := j.set(c.Object, list, want); err != nil {
			return &wire.Fault{Code: wire.CodePolicy, Op: "change the access list of", Path: c.Object.Path, Detail: err.Error(),
				Hint: "only files whose permissions you may change can be granted or denied (" + c.Why + ")"}
		}
	}
	back, err := j.api.Security(c.Object)
	if err != nil {
		return fmt.Errorf("read the access list of %q back: %w", c.Object.Path, err)
	}
	for _, a := range c.Add {
		if !slices.ContainsFunc(back.DACL, a.Equal) {
			return &problem.Error{Code: problem.WriteOpen, Op: "read the access list back", Path: c.Object.Path,
				Detail: "the entry " + a.String() + " is not there although Windows said so", Fix: "is this drive really NTFS or ReFS?"}
		}
	}
	return nil
}

// set writes one list and hands the difference down.
func (j *Journal) set(o winapi.Object, was, is sd.Descriptor) error {
	if err := j.api.SetDACL(o, is); err != nil {
		return err
	}
	if !o.Dir {
		return nil
	}
	_, err := acl.Spread(j.api, o, was, is, false)
	return err
}

// unset takes the difference off what lies below, and then off the object itself.
func (j *Journal) unset(o winapi.Object, was, is sd.Descriptor) error {
	if o.Dir {
		if _, err := acl.Spread(j.api, o, was, is, true); err != nil {
			return err
		}
	}
	return j.api.SetDACL(o, is)
}

// List gives what is written down.
func (j *Journal) List() (out []Entry, err error) {
	err = j.locked(func(s *state, _ func() error) error {
		out = slices.DeleteFunc(slices.Clone(s.Entries), func(e Entry) bool { return e.Claim })
		return nil
	})
	return out, err
}

// Forget takes away what is on path (everything when path is ""), also what running commands hold when force is set. With force an entry
// that cannot be removed is dropped from the journal; those are returned.
func (j *Journal) Forget(path string, force bool) (dropped []Entry, err error) {
	if force && path == "" {
		if _, err := j.List(); problem.Of(err) == problem.Incomplete {
			return nil, j.reset()
		}
	}
	err = j.locked(func(s *state, save func() error) error {
		if err := j.sweep(s, save); err != nil && !force {
			return err
		}
		wanted := func(e Entry) bool { return path == "" || winpath.Within(path, e.Path) }
		var holders []Holder
		for _, e := range s.Entries {
			if wanted(e) {
				holders = append(holders, e.Holders...)
			}
		}
		if len(holders) > 0 && !force {
			return &problem.Error{Code: problem.Running, Op: "forget access entries", Path: path, Detail: fmt.Sprintf("process %d needs them", holders[0].Pid), Fix: "wait for it, or add --force"}
		}
		for i := range s.Entries {
			if wanted(s.Entries[i]) {
				s.Entries[i].Holders = []Holder{}
			}
		}
		err := j.drop(s, save, func(Holder) bool { return false })
		if err == nil || !force {
			return err
		}
		for _, e := range s.Entries {
			if wanted(e) {
				dropped = append(dropped, e)
			}
		}
		s.Entries = slices.DeleteFunc(s.Entries, wanted)
		return save()
	})
	return dropped, err
}

// reset replaces a journal that cannot be read by an empty one.
func (j *Journal) reset() (err error) {
	unlock, err := j.store.Lock()
	if err != nil {
		return fmt.Errorf("lock the journal of access entries: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, err := wire.Encode(state{Format: 1, Entries: []Entry{}})
	if err != nil {
		return err
	}
	return j.store.Save(b)
}
