//go:build !linux && !darwin

package oneshot

import (
	"context"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// Helper refuses here: a helper is reached by a session on this operating system.
type Helper struct {
	Path  string
	Limit time.Duration
}

var _ wire.Helper = (*Helper)(nil)

func (h *Helper) refuse() error {
	return &wire.Fault{Code: wire.CodeUnsupported, Op: "ask", Path: h.Path, Detail: errNoChannel.Error()}
}

// Describe refuses.
func (h *Helper) Describe(context.Context) (wire.Description, error) {
	return wire.Description{}, h.refuse()
}

// Check refuses.
func (h *Helper) Check(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	return wire.CheckReport{}, h.refuse()
}

// Prepare refuses.
func (h *Helper) Prepare(context.Context, wire.LaunchRequest) (wire.LaunchPlan, error) {
	return wire.LaunchPlan{}, h.refuse()
}
