package oneshot

import (
	"context"

	"github.com/srt-dev/srt/core/wire"
)

// ask starts the helper with the request on its standard input and the answer on its standard output.
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
