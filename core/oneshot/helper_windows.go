package oneshot

import (
	"context"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// Helper reaches the helper of this operating system: each call starts Path once, with the request on its standard input and the answer
// on its standard output. It implements wire.Helper.
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

func (h *Helper) ask(ctx context.Context, verb string, req, answer any) error {
	limit := h.Limit
	if limit == 0 {
		limit = AnswerLimit
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c, err := startChild(h.Path, verb)
	if err != nil {
		return err
	}
	defer c.end()
	defer context.AfterFunc(bounded, func() { _ = c.process.Kill() })() // ends whatever waits below
	if err := WriteRequest(c.in, req); err != nil && AsFault(err).Code != wire.CodePeerGone {
		return Blame(h.Path, err)
	}
	err = ReadAnswer(c.out, h.Path, answer) // one that went away while it was asked may have said why
	if err != nil && bounded.Err() != nil {
		return Blame(h.Path, &wire.Fault{Code: wire.CodePeerGone, Detail: "the peer did not answer in time"})
	}
	return err
}
