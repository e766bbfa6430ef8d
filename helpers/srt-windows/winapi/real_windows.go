package winapi

import (
	"errors"
	"syscall"
)

// Real is Windows itself: one call of the system behind each method, numbers and texts handed on as they come.
type Real struct{}

// New gives the real Windows.
func New() (*Real, error) { return &Real{}, nil }

var (
	_ System = (*Real)(nil)
	_ Host   = (*Real)(nil)
	_ Inner  = (*Real)(nil)
	_ Prober = (*Real)(nil)
)

// errOf gives the error number of a failed call, which may be wrapped.
func errOf(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		if e == 0 {
			return Errno(1) // a call that failed without saying why
		}
		return Errno(e)
	}
	return err
}

// status turns a result that is itself the error number into an error.
func status(r uintptr) error {
	if uint32(r) == 0 {
		return nil
	}
	return Errno(uint32(r))
}
