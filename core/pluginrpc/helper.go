package pluginrpc

import (
	"bytes"
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// Helper is a helper that serves a session. It implements wire.Helper; any number of calls may run at once.
type Helper struct {
	*peer
	limit time.Duration
}

var _ wire.Helper = (*Helper)(nil)

// StartHelper starts the helper. The caller must call Close.
func StartHelper(ctx context.Context, o Options) (*Helper, error) {
	p, err := start(ctx, o, nameHelper)
	if err != nil {
		return nil, err
	}
	h := &Helper{peer: p, limit: o.Limit}
	if h.limit == 0 {
		h.limit = oneshot.AnswerLimit
	}
	return h, nil
}

// Close ends the helper and waits for it.
func (h *Helper) Close() error {
	h.end()
	return nil
}

// Describe asks the helper what it is.
func (h *Helper) Describe(ctx context.Context) (wire.Description, error) {
	var d wire.Description
	return d, h.ask(ctx, oneshot.VerbDescribe, h.limit, wire.DescribeRequest{Version: wire.Version}, &d)
}

// Check asks whether the protections hold on this machine. It tries them, so it may take twice as long as another answer.
func (h *Helper) Check(ctx context.Context, req wire.CheckRequest) (wire.CheckReport, error) {
	var r wire.CheckReport
	return r, h.ask(ctx, oneshot.VerbCheck, 2*h.limit, req, &r)
}

// Prepare asks for a plan and runs nothing.
func (h *Helper) Prepare(ctx context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	var p wire.LaunchPlan
	return p, h.ask(ctx, oneshot.VerbPlan, h.limit, req, &p)
}

func (h *Helper) ask(ctx context.Context, verb string, limit time.Duration, req, answer any) error {
	var frame bytes.Buffer
	if err := oneshot.WriteRequest(&frame, req); err != nil {
		return oneshot.Blame(h.name, err)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out := new(wrapperspb.BytesValue)
	if err := h.conn.Invoke(bounded, "/"+helperService+"/"+verb, wrapperspb.Bytes(frame.Bytes()), out); err != nil {
		if ctx.Err() != nil {
			return oneshot.Blame(h.name, &wire.Fault{Code: wire.CodePeerGone, Detail: ctx.Err().Error()})
		}
		return oneshot.Blame(h.name, h.fault(err))
	}
	return oneshot.ReadAnswer(bytes.NewReader(out.Value), h.name, answer)
}

// ended is said of a peer that went away while it was asked.
const ended = "the peer ended without an answer"

// callFault says what an error of gRPC means.
func callFault(err error) *wire.Fault {
	s, ok := status.FromError(err)
	if !ok {
		return oneshot.AsFault(err)
	}
	f := &wire.Fault{Code: wire.CodeMalformed, Detail: s.Message()}
	switch s.Code() {
	case codes.Unavailable:
		f.Code, f.Detail = wire.CodePeerGone, ended
	case codes.DeadlineExceeded, codes.Canceled:
		f.Code, f.Detail = wire.CodePeerGone, "the peer did not answer in time"
	case codes.ResourceExhausted:
		f.Code = wire.CodeTooLarge
	}
	return f
}
