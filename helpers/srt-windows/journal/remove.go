package journal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// errLeft says that an entry could not be taken off. It stays written down and is tried again.
var errLeft = errors.New("an access entry of an ended command could not be removed; srt-windows acl list shows it")

// Release takes away what only holder needs.
func (j *Journal) Release(holder Holder) error {
	return j.locked(func(s *state, save func() error) error {
		return j.drop(s, save, func(h Holder) bool { return h == holder })
	})
}

// Sweep takes away what ended commands left.
func (j *Journal) Sweep() error { return j.locked(j.sweep) }

func (j *Journal) sweep(s *state, save func() error) error {
	dead := map[Holder]bool{}
	for _, e := range s.Entries {
		for _, h := range e.Holders {
			if _, known := dead[h]; known {
				continue
			}
			alive, err := j.api.ProcessAlive(uint32(h.Pid), h.Started)
			if err != nil {
				return fmt.Errorf("ask whether process %d still runs: %w", h.Pid, err)
			}
			dead[h] = !alive
		}
	}
	if !slices.ContainsFunc(s.Entries, func(e Entry) bool {
		return len(e.Holders) == 0 || slices.ContainsFunc(e.Holders, func(h Holder) bool { return dead[h] })
	}) {
		return nil
	}
	return j.drop(s, save, func(h Holder) bool { return dead[h] })
}

// drop takes holders off and removes what nobody holds. An entry that cannot be removed stays written down, without a holder, and is
// tried again the next time; the first such failure is returned.
func (j *Journal) drop(s *state, save func() error, gone func(Holder) bool) error {
	for i := range s.Entries {
		s.Entries[i].Holders = slices.DeleteFunc(s.Entries[i].Holders, gone)
	}
	if err := save(); err != nil {
		return err
	}
	var first error
	done := map[int]bool{}
	for i := len(s.Entries) - 1; i >= 0; i-- { // grants were put last and go first
		if len(s.Entries[i].Holders) > 0 || done[i] {
			continue
		}
		var group []int
		for k := range s.Entries {
			if e := s.Entries[k]; len(e.Holders) == 0 && e.Volume == s.Entries[i].Volume && e.ID == s.Entries[i].ID {
				group = append(group, k)
			}
		}
		if err := j.takeAway(s, group); err != nil {
			if first == nil {
				first = fmt.Errorf("%w: %w", errLeft, err)
			}
			continue
		}
		for _, k := range group {
			done[k] = true
		}
	}
	left := s.Entries[:0:0]
	for i, e := range s.Entries {
		if !done[i] {
			left = append(left, e)
		}
	}
	s.Entries = append([]Entry{}, left...)
	return errors.Join(first, save())
}

// takeAway removes the given entries of one object, wherever it has been moved to. One that is gone has nothing to remove.
func (j *Journal) takeAway(s *state, group []int) error {
	o, err := s.Entries[group[0]].object()
	if err != nil {
		return err
	}
	o, err = j.api.Find(o)
	switch {
	case errors.Is(err, winapi.ErrFileNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("find what was %q: %w", s.Entries[group[0]].Path, err)
	}
	list, err := j.api.Security(o)
	if err != nil {
		return fmt.Errorf("read the access list of %q: %w", o.Path, err)
	}
	var entries []sd.ACE
	for _, k := range group {
		if !s.Entries[k].Claim {
			entries = append(entries, s.Entries[k].ACE())
		}
	}
	want, removed := list.Remove(entries...)
	if removed == 0 {
		return nil
	}
	if err := j.unset(o, list, want); err != nil {
		return fmt.Errorf("take srt's entries off %q: %w", o.Path, err)
	}
	return nil
}
