package seccomp_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/rules"
	"github.com/srt-dev/srt/helpers/srt-linux/supervise"
)

// The filter must send the supervisor what the supervisor judges, and what else it sends must be a refusal.
func TestTheSupervisorJudgesWhatIsAsked(t *testing.T) {
	native, ok := map[string]rules.Arch{"amd64": rules.AMD64, "arm64": rules.ARM64}[runtime.GOARCH]
	if !ok {
		t.Skipf("no filter for %s", runtime.GOARCH)
	}
	for _, o := range rules.Variants() {
		if !o.Supervised {
			continue
		}
		holds := map[supervise.When]bool{supervise.Always: true, supervise.SocketsByRef: !o.AllowAllUnixSockets, supervise.Plain: !o.Explain, supervise.Explained: o.Explain}
		rs := rules.For(native, o)
		for _, c := range supervise.Notified {
			want := rules.Rule{Call: c.Name, Number: c.Nr}
			if c.Mask != 0 {
				want.When = []rules.Match{{Arg: c.Arg, Mask: c.Mask, Value: c.Value}}
			}
			asked := slices.ContainsFunc(rs, func(r rules.Rule) bool {
				return r.Asks && r.Number == c.Nr && slices.EqualFunc(r.When, want.When, func(a, b rules.Match) bool {
					return a.Arg == b.Arg && a.Mask == b.Mask && a.Value == b.Value && a.Except == nil
				})
			})
			if asked != holds[c.When] {
				t.Errorf("%s: %s: asked %t, judged %t", o.Name(), c.Name, asked, holds[c.When])
			}
		}
		for _, r := range rs {
			judged := slices.ContainsFunc(supervise.Notified, func(c supervise.Call) bool { return c.Nr == r.Number })
			if r.Asks != judged && (r.Asks || r.Verdict == rules.Notify) {
				t.Errorf("%s: %s: asks %t, judged by the supervisor %t", o.Name(), r.Call, r.Asks, judged)
			}
		}
	}
}
