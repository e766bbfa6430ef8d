// Package acl decides whether a command may connect to a destination. A decision is one function of one argument, has a reason, and
// does no I/O: asking the user is the caller's business, and so is looking at what a name resolves to. The zero value of everything
// here denies.
package acl

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
)

// Verdict is the outcome of a decision.
type Verdict uint8

// Verdicts. The zero value denies.
const (
	Deny Verdict = iota
	Ask          // nobody but the user can allow it
	Allow
)

// Reasons of refusals. They are shown to the user and to the model.
const (
	ReasonMiss       = "not on the allow list"
	ReasonDenied     = "on the deny list"
	ReasonUser       = "refused by the user"
	ReasonUnanswered = "nobody answered the question in time"
	ReasonQuestions  = "too many unanswered questions"
	ReasonNoPolicy   = "no policy was set"
)

// Policy is what the whole session allows and denies. It is immutable.
type Policy struct {
	allowed, denied *hostmatch.List
	told            *hostmatch.List // entries of deniedDomains that have a reason
	reasons         map[string]string
	strict, ask     bool
}

// NewPolicy parses the lists of cfg. An entry that does not parse refuses the whole configuration.
func NewPolicy(cfg wire.ProxyConfig) (*Policy, error) {
	p := &Policy{reasons: maps.Clone(cfg.DeniedDomainReasons), strict: cfg.StrictAllowlist, ask: cfg.Ask}
	var err error
	if p.allowed, err = hostmatch.ParseList(cfg.AllowedDomains); err != nil {
		return nil, fmt.Errorf("network.allowedDomains: %w", err)
	}
	if p.denied, err = hostmatch.ParseDenyList(cfg.DeniedDomains); err != nil {
		return nil, fmt.Errorf("network.deniedDomains: %w", err)
	}
	told := slices.DeleteFunc(slices.Clone(cfg.DeniedDomains), func(entry string) bool { return p.reasons[entry] == "" })
	p.told, err = hostmatch.ParseDenyList(told)
	return p, err
}

// Lists are one command's own lists. A nil *Lists holds nothing.
type Lists struct {
	allowed, denied *hostmatch.List
}

// NewLists parses the lists of one command; nil gives nil.
func NewLists(l *wire.NetLists) (*Lists, error) {
	if l == nil {
		return nil, nil
	}
	allowed, err := hostmatch.ParseList(l.AllowedDomains)
	if err != nil {
		return nil, fmt.Errorf("the command's allowedDomains: %w", err)
	}
	denied, err := hostmatch.ParseDenyList(l.DeniedDomains)
	if err != nil {
		return nil, fmt.Errorf("the command's deniedDomains: %w", err)
	}
	return &Lists{allowed: allowed, denied: denied}, nil
}

// Args is everything that a decision depends on.
type Args struct {
	Policy *Policy // nil denies
	Own    *Lists  // nil: the command has no lists of its own
	Dest   hostmatch.HostPort
}

// Decision is a verdict with its reason, which is never empty.
type Decision struct {
	Verdict Verdict
	Rule    string // the entry that decided, as written; "" when none did
	Reason  string
	Miss    bool // denied only because no list allows it
}

// Decide judges in this order: deniedDomains, the command's own denials (they can only narrow), allowedDomains, strictAllowlist, the
// command's own list, the user, denial.
func Decide(a Args) Decision {
	if a.Policy == nil || !a.Dest.IsValid() {
		return Decision{Verdict: Deny, Reason: ReasonNoPolicy}
	}
	if rule, ok := a.Policy.told.Match(a.Dest); ok {
		return Decision{Verdict: Deny, Rule: rule, Reason: a.Policy.reasons[rule]}
	}
	if rule, ok := a.Policy.denied.Match(a.Dest); ok {
		return Decision{Verdict: Deny, Rule: rule, Reason: ReasonDenied}
	}
	if rule, ok := a.Own.list(true).Match(a.Dest); ok {
		return Decision{Verdict: Deny, Rule: rule, Reason: ReasonDenied}
	}
	if rule, ok := a.Policy.allowed.Match(a.Dest); ok {
		return Decision{Verdict: Allow, Rule: rule, Reason: "on the allow list"}
	}
	if a.Policy.strict {
		return Decision{Verdict: Deny, Reason: ReasonMiss, Miss: true}
	}
	if rule, ok := a.Own.list(false).Match(a.Dest); ok {
		return Decision{Verdict: Allow, Rule: rule, Reason: "on the command's allow list"}
	}
	if a.Policy.ask {
		return Decision{Verdict: Ask, Reason: "the user has to be asked"}
	}
	return Decision{Verdict: Deny, Reason: ReasonMiss, Miss: true}
}

// DeniesAddr says whether a deny list names the address itself (with its port), whatever name led to it.
func (a Args) DeniesAddr(addr netip.Addr) bool {
	hp := hostmatch.HostPort{Host: hostmatch.FromAddr(addr), Port: a.Dest.Port}
	if a.Policy == nil {
		return true
	}
	_, session := a.Policy.denied.Match(hp)
	_, own := a.Own.list(true).Match(hp)
	return session || own
}

// AllowsAddr says whether an allow list names the address itself (with its port): then a name may lead to it too.
func (a Args) AllowsAddr(addr netip.Addr) bool {
	hp := hostmatch.HostPort{Host: hostmatch.FromAddr(addr), Port: a.Dest.Port}
	return Decide(Args{Policy: a.Policy, Own: a.Own, Dest: hp}).Verdict == Allow
}

func (l *Lists) list(denied bool) *hostmatch.List {
	switch {
	case l == nil:
		return nil
	case denied:
		return l.denied
	}
	return l.allowed
}
