package acl

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// Spread hands a change of one directory's list down to what lies below. srt does it itself: what Windows does in its place would follow
// whatever a command planted there, and would rewrite lists that are none of srt's business. No link is followed, each object is opened
// as itself, and one that inherits nothing keeps its list, with everything below it.
//
// Putting on goes from the top down and taking off (back) from the bottom up: so at every moment an object that carries srt's entries
// lies in one that does too, and whatever a crash leaves is found again by going down from the top.
//
// Where the caller may not change an object, a grant does not reach it, which is counted; a denial that cannot reach it is an error.
func Spread(api winapi.Files, o winapi.Object, was, is sd.Descriptor, back bool) (skipped int, err error) {
	s := spreader{api: api, mustReach: denies(was, is), back: back}
	err = s.below(o.Path, was, is)
	return s.skipped, err
}

type spreader struct {
	api       winapi.Files
	mustReach bool
	back      bool
	skipped   int
}

// denies says whether the new list hands down a denial that the old one did not.
func denies(was, is sd.Descriptor) bool {
	for _, a := range is.DACL {
		if a.Opaque != nil || a.Kind != sd.Deny || a.Flags&sd.Inherit == 0 {
			continue
		}
		found := false
		for _, b := range was.DACL {
			found = found || a.Equal(b)
		}
		if !found {
			return true
		}
	}
	return false
}

func (s *spreader) below(dir string, was, is sd.Descriptor) error {
	entries, err := s.api.List(dir)
	if err != nil {
		return s.pass("list", dir, err)
	}
	for _, e := range entries {
		if e.Link || winpath.CheckName(e.Name) != nil {
			continue
		}
		if err := s.one(winpath.Join(dir, e.Name), was, is); err != nil {
			return err
		}
	}
	return nil
}

func (s *spreader) one(path string, was, is sd.Descriptor) error {
	o, err := s.api.Resolve(path)
	if err != nil {
		return s.pass("open", path, err)
	}
	old, err := s.api.Security(o)
	if err != nil {
		return s.pass("read the access list of", path, err)
	}
	now := old.Spread(was, is, o.Dir)
	if same(old.DACL, now.DACL) {
		return nil // protected, or nothing for it; then there is nothing for what lies below either
	}
	if o.Dir && s.back {
		if err := s.below(path, old, now); err != nil {
			return err
		}
	}
	if err := s.api.SetDACL(o, now); err != nil {
		return s.pass("change the access list of", path, err)
	}
	if o.Dir && !s.back {
		return s.below(path, old, now)
	}
	return nil
}

func same(a, b []sd.ACE) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// pass goes on where that is safe. What is gone or was replaced in between is no object of the tree any more.
func (s *spreader) pass(op, path string, err error) error {
	switch {
	case errors.Is(err, winapi.ErrFileNotFound), errors.Is(err, winapi.ErrPathNotFound):
		return nil
	case errors.Is(err, winapi.ErrAccessDenied) && !s.mustReach:
		s.skipped++
		return nil
	}
	return fmt.Errorf("%s %q: %w", op, path, err)
}
