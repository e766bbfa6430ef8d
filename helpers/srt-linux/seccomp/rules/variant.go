package rules

import (
	"cmp"
	"slices"
	"strings"
)

// Options choose a variant of the filter. The zero value refuses most: no supervisor, so no AF_UNIX socket either.
type Options struct {
	// Supervised: somebody answers the listener, so names and unix sockets are judged one by one.
	Supervised bool
	// Explain also sends every open to the supervisor, to see read denials. Only with Supervised.
	Explain bool
	// AllowNestedUserNamespaces lifts the refusal of namespaces and of the mount family, and nothing else.
	AllowNestedUserNamespaces bool
	// AllowAllUnixSockets lifts the limits on AF_UNIX sockets, and nothing else.
	AllowAllUnixSockets bool
}

// Variants is every meaningful choice of Options.
func Variants() []Options {
	var out []Options
	for _, o := range []Options{{}, {Supervised: true}, {Supervised: true, Explain: true}} {
		for _, unix := range []bool{false, true} {
			for _, ns := range []bool{false, true} {
				o.AllowAllUnixSockets, o.AllowNestedUserNamespaces = unix, ns
				out = append(out, o)
			}
		}
	}
	return out
}

// Name is the variant's name, which is also the name of its file: "unsupervised", "supervised", "explain", each with "-unix" and
// "-ns" for what is lifted.
func (o Options) Name() string {
	parts := []string{"unsupervised"}
	switch {
	case o.Supervised && o.Explain:
		parts[0] = "explain"
	case o.Supervised:
		parts[0] = "supervised"
	}
	if o.AllowAllUnixSockets {
		parts = append(parts, "unix")
	}
	if o.AllowNestedUserNamespaces {
		parts = append(parts, "ns")
	}
	return strings.Join(parts, "-")
}

// Verdict is what the kernel does with a call; the values are those of linux/seccomp.h.
type Verdict uint32

// Verdicts that a filter gives. Errno(e) makes the others.
const (
	Kill   Verdict = 0x80000000 // SECCOMP_RET_KILL_PROCESS
	Notify Verdict = 0x7fc00000 // SECCOMP_RET_USER_NOTIF
	Allow  Verdict = 0x7fff0000 // SECCOMP_RET_ALLOW
	errno  Verdict = 0x00050000 // SECCOMP_RET_ERRNO

	TooNew = errno | enosys // the answer to a call above LastReviewed
)

// Errno refuses a call with error number e.
func Errno(e uint16) Verdict { return errno | Verdict(e) }

// Errno gives the error number of a refusal, or ok false when the verdict is another one.
func (v Verdict) Errno() (e uint16, ok bool) { return uint16(v), v&0xffff0000 == errno }

// Rule is one line of the table as it holds for one architecture and variant.
type Rule struct {
	Call    string
	Number  int
	When    []Match // all must hold; none: every call
	Verdict Verdict
	Asks    bool // the supervisor decides; a rule that notifies and does not ask is a refusal that is worth telling
	Why     string
}

// Holds says whether the rule speaks about a call with these arguments.
func (r Rule) Holds(args [6]uint64) bool {
	return !slices.ContainsFunc(r.When, func(m Match) bool { return !m.Holds(args) })
}

// For gives the rules of one variant on one architecture, ordered by call number. Calls that the architecture lacks are left out.
func For(a Arch, o Options) []Rule {
	var out []Rule
	for _, l := range table {
		c, ok := CallByName(l.call)
		if !ok {
			panic("rules: the table names " + l.call + ", which has no numbers (a bug, please report)")
		}
		nr, ok := c.Number(a)
		if !ok || !l.in.holds(o) {
			continue
		}
		out = append(out, Rule{Call: l.call, Number: nr, When: l.when, Verdict: l.do.verdict(o), Asks: l.do == ask, Why: l.why})
	}
	slices.SortStableFunc(out, func(x, y Rule) int { return cmp.Compare(x.Number, y.Number) })
	return out
}

// Decide states what a filter must answer; the generated programs are tested against it.
func Decide(a Arch, rules []Rule, audit uint32, nr uint32, args [6]uint64) Verdict {
	switch {
	case audit != a.Audit:
		return Kill
	case nr == 0xffffffff: // a tracer cancelled the call; the kernel runs nothing
		return Allow
	case nr >= X32Bit && a == AMD64:
		return Kill
	case nr >= X32Bit: // no such calls: the kernel answers ENOSYS itself
		return Allow
	case nr > LastReviewed:
		return TooNew
	}
	for _, r := range rules {
		if uint32(r.Number) == nr && r.Holds(args) {
			return r.Verdict
		}
	}
	return Allow
}
