package oneshot

import (
	"errors"
	"fmt"
)

var errNoChannel = fmt.Errorf("no inherited channel on this operating system: %w", errors.ErrUnsupported)

// Pair fails: descriptors cannot be inherited here as the contract needs it.
func Pair() (ours, theirs int, err error) { return -1, -1, errNoChannel }

// Shutdown has nothing to end here.
func (c *Channel) Shutdown() {}

// Close fails, as there is no channel.
func (c *Channel) Close() error { return errNoChannel }

// CloseAll has nothing to close here.
func CloseAll([]int) {}

func (c *Channel) send([]byte, []int) error     { return errNoChannel }
func (c *Channel) recv() ([]byte, []int, error) { return nil, nil, gone() }
