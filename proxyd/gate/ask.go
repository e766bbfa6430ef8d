package gate

import (
	"context"
	"sync"
	"time"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/acl"
	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/limits"
	"github.com/srt-dev/srt/proxyd/report"
)

// asker puts questions to the user: one at a time for each destination. Connections of the same command to the same destination share
// the answer of the question that is open; those of another command wait and then ask for themselves. No answer is a denial.
type asker struct {
	out *report.Outbox

	mu   sync.Mutex
	last uint64
	byID map[uint64]*question
	open map[hostmatch.HostPort]*question
}

type question struct {
	id      uint64
	command *client.Command
	dest    hostmatch.HostPort
	settled chan struct{}
	stop    []func() bool // of what would settle it otherwise
	reply   acl.Decision  // valid once settled is closed; the zero value denies
}

func (a *asker) ask(ctx context.Context, cmd *client.Command, dest hostmatch.HostPort, patience time.Duration) acl.Decision {
	for {
		q, mine := a.join(cmd, dest, patience)
		if q == nil {
			return acl.Decision{Reason: acl.ReasonQuestions}
		}
		select {
		case <-q.settled:
			if mine {
				return q.reply
			}
		case <-cmd.Context().Done():
			return acl.Decision{Reason: acl.ReasonUnanswered}
		case <-ctx.Done():
			return acl.Decision{Reason: acl.ReasonUnanswered}
		}
	}
}

// join finds or opens the question about dest. mine says that its answer is for cmd; nil means that too many are open.
func (a *asker) join(cmd *client.Command, dest hostmatch.HostPort, patience time.Duration) (q *question, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := a.open[dest]; q != nil {
		return q, q.command == cmd
	}
	if len(a.open) >= limits.Questions {
		return nil, false
	}
	if a.open == nil {
		a.open, a.byID = make(map[hostmatch.HostPort]*question), make(map[uint64]*question)
	}
	a.last++
	q = &question{id: a.last, command: cmd, dest: dest, settled: make(chan struct{})}
	a.open[dest], a.byID[q.id] = q, q
	nobody := func() { a.settle(q.id, acl.Decision{Reason: acl.ReasonUnanswered}) }
	q.stop = []func() bool{time.AfterFunc(patience, nobody).Stop, context.AfterFunc(cmd.Context(), nobody)}
	a.out.Put(wire.ProxyEvent{Kind: wire.EventAsk, Ask: &wire.Ask{ID: q.id, CommandID: cmd.ID, Host: dest.Host.String(), Port: int(dest.Port)}})
	return q, true
}

// settle answers a question; an answer that comes too late, or to no question, changes nothing.
func (a *asker) settle(id uint64, d acl.Decision) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.byID[id]
	if q == nil {
		return false
	}
	delete(a.byID, id)
	delete(a.open, q.dest)
	for _, stop := range q.stop {
		stop()
	}
	q.reply = d
	close(q.settled)
	return true
}

// Answer settles a question. False: there is no such question (any more).
func (g *Gate) Answer(ans wire.Answer) bool {
	d := acl.Decision{Verdict: acl.Deny, Reason: acl.ReasonUser}
	if ans.Allow {
		d = acl.Decision{Verdict: acl.Allow, Reason: "allowed by the user"}
	}
	return g.asks.settle(ans.ID, d)
}
