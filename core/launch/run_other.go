//go:build !linux && !darwin

package launch

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/core/wire"
)

// Run cannot exist here.
type Run struct{}

// Begin refuses: a single command needs inherited descriptors, which this operating system does not have.
func Begin(Options) (*Run, error) {
	return nil, fmt.Errorf("run a single command here: %w", errors.ErrUnsupported)
}

// Terminal says no.
func (r *Run) Terminal() (attached, foreground bool) { return false, false }

// Place is none.
func (r *Run) Place() *Place { return &Place{listener: -1, held: -1} }

// IgnoredSignals are none.
func IgnoredSignals() []int { return []int{} }

// Cancel has nothing to end.
func (r *Run) Cancel() {}

// Wait refuses.
func (r *Run) Wait(wire.LaunchRequest, wire.ProxyConfig) Outcome {
	return Outcome{Fault: &wire.Fault{Code: wire.CodeUnsupported, Op: "run", Detail: "no single command on this operating system"}}
}

// Configure has nothing to configure.
func (r *Run) Configure(wire.ProxyConfig) {}

// End has nothing to end.
func (r *Run) End(*wire.Fault) {}

// Borrow has no terminal to lend.
func (r *Run) Borrow(func(tty int)) bool { return false }
