package oneshot

import (
	"context"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// Helper reaches the helper of this operating system: each call starts Path once. It implements wire.Helper.
type Helper struct {
	Path  string        // absolute; from Find
	Limit time.Duration // 0: AnswerLimit
}

var _ wire.Helper = (*Helper)(nil)

// Describe asks the helper what it is.
func (h *Helper) Describe(ctx context.Context) (wire.Description, error) {
	var d wire.Description
	return d, h.ask(ctx, VerbDescribe, wire.DescribeRequest{Version: wire.Version}, &d)
}

// Check asks whether the protections hold on this machine.
func (h *Helper) Check(ctx context.Context, req wire.CheckRequest) (wire.CheckReport, error) {
	var r wire.CheckReport
	return r, h.ask(ctx, VerbCheck, req, &r)
}

// Prepare asks for a plan and runs nothing.
func (h *Helper) Prepare(ctx context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	var p wire.LaunchPlan
	return p, h.ask(ctx, VerbPlan, req, &p)
}
