// Package gate is the one way from a front end to the outside: it judges a destination, asks the user where the policy says so, dials,
// and reports every refusal. A front end must never dial or report by itself, and the gate must never see more of a client than its
// command and the destination.
package gate

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/acl"
	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/limits"
	"github.com/srt-dev/srt/proxyd/report"
)

// Policy is one configuration, compiled. It is immutable.
type Policy struct {
	ACL    *acl.Policy
	Dialer *egress.Dialer
	Audit  bool
	Debug  bool
	Ask    time.Duration // how long a question stays open
}

// Compile parses cfg; the error names what does not parse, and then nothing of cfg is in force.
func Compile(cfg wire.ProxyConfig) (*Policy, error) {
	p := &Policy{Audit: cfg.Audit, Debug: cfg.Debug, Ask: time.Duration(cfg.AskTimeoutMs) * time.Millisecond}
	if p.Ask <= 0 {
		p.Ask = limits.Ask
	}
	var err error
	if p.ACL, err = acl.NewPolicy(cfg); err != nil {
		return nil, err
	}
	if p.Dialer, err = egress.NewDialer(cfg); err != nil {
		return nil, err
	}
	return p, nil
}

// Gate judges and dials. Until Set it denies everything.
type Gate struct {
	policy atomic.Pointer[Policy]
	out    *report.Outbox
	log    *report.Log
	asks   asker
}

// New makes a gate that denies everything. Records go to log while the policy has Debug.
func New(out *report.Outbox, log *slog.Logger) *Gate {
	return &Gate{out: out, log: &report.Log{Logger: log}, asks: asker{out: out}}
}

// Set puts p in force for the judgements to come.
func (g *Gate) Set(p *Policy) {
	g.policy.Store(p)
	if p.Debug && len(p.Dialer.Ignored) > 0 {
		g.log.Record("entries of noProxy that are not understood", report.KeyRule, p.Dialer.Ignored)
	}
}

// Denial is a refusal by the policy. It was reported already.
type Denial struct {
	Dest   hostmatch.HostPort
	Reason string
	Miss   bool // only because no list allows it
}

// Error implements error.
func (d *Denial) Error() string { return d.Reason }

// Permit is a favourable judgement of one destination for one command.
type Permit struct {
	gate   *Gate
	policy *Policy
	own    *acl.Lists
	who    Who
	dest   hostmatch.HostPort
}

// Who is the client of a judgement.
type Who struct {
	Command *client.Command
	Proto   string // "http", "connect", "socks", "mirror", for the log
}

// Judge decides about dest; it may wait for the user. The error is a *Denial.
func (g *Gate) Judge(ctx context.Context, who Who, dest hostmatch.HostPort) (*Permit, error) {
	p := g.policy.Load()
	if p == nil {
		return nil, g.deny(nil, who, dest, acl.Decision{Reason: acl.ReasonNoPolicy})
	}
	own := who.Command.Own()
	d := acl.Decide(acl.Args{Policy: p.ACL, Own: own, Dest: dest})
	if d.Verdict == acl.Ask {
		d = g.asks.ask(ctx, who.Command, dest, p.Ask)
	}
	if d.Verdict != acl.Allow {
		return nil, g.deny(p, who, dest, d)
	}
	if p.Audit {
		g.out.Allowed(wire.Decision{Verdict: wire.VerdictAllow, CommandID: who.Command.ID, Target: dest.String(), Rule: d.Rule, Reason: d.Reason})
	}
	return &Permit{gate: g, policy: p, own: own, who: who, dest: dest}, nil
}

// Near judges dest and opens a connection to it when that takes no waiting and leaves nothing to tell anybody. False says nothing about dest,
// and nothing was reported: it is for Judge.
func (g *Gate) Near(who Who, dest hostmatch.HostPort) (socket int, ok bool) {
	p := g.policy.Load()
	if p == nil || p.Audit || p.Debug {
		return -1, false
	}
	a := acl.Args{Policy: p.ACL, Own: who.Command.Own(), Dest: dest}
	if acl.Decide(a).Verdict != acl.Allow {
		return -1, false
	}
	return p.Dialer.Near(egress.Target{Args: a, Kind: egress.Tunnel})
}

// Dest is what was judged: the only thing to dial, to send upstream and to show.
func (p *Permit) Dest() hostmatch.HostPort { return p.dest }

// Same says whether a connection that q dialled may serve p: same destination, command, lists and configuration.
func (p *Permit) Same(q *Permit) bool {
	return q != nil && p.policy == q.policy && p.own == q.own && p.dest == q.dest && p.who.Command == q.who.Command
}

// Dial opens a connection to the destination. ctx has to end with the command. The error is a *Denial or an *egress.Failure.
func (p *Permit) Dial(ctx context.Context, kind egress.Kind) (*egress.Link, error) {
	link, err := p.policy.Dialer.Dial(ctx, egress.Target{
		Args: acl.Args{Policy: p.policy.ACL, Own: p.own, Dest: p.dest}, Kind: kind})
	if refusal, ok := errors.AsType[*egress.Refusal](err); ok {
		return nil, p.gate.deny(p.policy, p.who, p.dest, acl.Decision{Reason: refusal.Reason}, report.KeyDropped, refusal.Addrs)
	}
	if p.policy.Debug {
		attrs := []any{report.KeyCommand, p.who.Command.ID, report.KeyProto, p.who.Proto, report.KeyDest, p.dest.String(), report.KeyVerdict, "allow"}
		if err != nil {
			attrs = append(attrs, report.KeyError, err.Error())
		} else {
			attrs = append(attrs, report.KeyRoute, link.Route, report.KeyAddr, link.Addr, report.KeyLookup, link.Lookup.Milliseconds(), report.KeyDropped, link.Dropped)
		}
		p.gate.log.Record("connection", attrs...)
	}
	return link, err
}

// Malformed reports a request that named no destination that can be judged. target is what it named, as far as it can be told.
func (g *Gate) Malformed(who Who, target, reason string) {
	p := g.policy.Load()
	g.out.Denied(wire.Violation{CommandID: who.Command.ID, Target: target, Reason: reason})
	if p != nil && p.Debug {
		g.log.Record("request", report.KeyCommand, who.Command.ID, report.KeyProto, who.Proto, report.KeyDest, target,
			report.KeyVerdict, "refuse", report.KeyReason, reason)
	}
}

// Broken records a fault of ours ("cannot happen"), whatever the policy says about records.
func (g *Gate) Broken(who Who, fault any, stack []byte) {
	if g.log.Logger != nil {
		g.log.Error("a connection was lost to a fault of proxyd, please report", report.KeyCommand, who.Command.ID, report.KeyError, fault, "stack", string(stack))
	}
}

// deny reports a refusal and makes the error of it.
func (g *Gate) deny(p *Policy, who Who, dest hostmatch.HostPort, d acl.Decision, more ...any) *Denial {
	g.out.Denied(wire.Violation{CommandID: who.Command.ID, Target: dest.String(), Reason: d.Reason, Rule: d.Rule})
	if p != nil && p.Debug {
		g.log.Record("connection", append([]any{report.KeyCommand, who.Command.ID, report.KeyProto, who.Proto, report.KeyDest, dest.String(),
			report.KeyVerdict, "deny", report.KeyReason, d.Reason, report.KeyRule, d.Rule}, more...)...)
	}
	return &Denial{Dest: dest, Reason: d.Reason, Miss: d.Miss}
}
