package selfcheck

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

const account sd.SID = "S-1-5-21-1-2-3-1002"

// box is a fake inside: what each attempt meets.
type box struct {
	dial  func(to netip.AddrPort, udp bool) error
	touch func(op, path string) error
	token winapi.TokenFacts
	job   winapi.JobSpec
	jobs  error
}

func (b box) Dial(to netip.AddrPort, udp bool) error { return b.dial(to, udp) }
func (b box) Touch(op, path string) error            { return b.touch(op, path) }
func (b box) OwnToken() (winapi.TokenFacts, error)   { return b.token, nil }
func (b box) OwnJob() (winapi.JobSpec, error)        { return b.job, b.jobs }

func good() (box, winapi.TokenSpec) {
	spec := runas.Token("S-1-5-5-0-1", "S-1-5-21-7-7-7-7", nil, []sd.SID{"S-1-5-5-0-2"})
	return box{
		dial: func(to netip.AddrPort, _ bool) error {
			if to.Port() == 60080 {
				return nil
			}
			return winapi.Errno(10013)
		},
		touch: func(_, path string) error {
			if strings.HasPrefix(path, `C:\tmp`) {
				return nil
			}
			return winapi.ErrAccessDenied
		},
		token: winapi.TokenFacts{User: account, Restricting: spec.Restricting, WriteRestricted: true, Privileges: []string{limits.KeptPrivilege}},
		job:   runas.Job(),
	}, spec
}

func place(loopback bool) Place {
	return Place{Inside: netip.MustParseAddrPort("127.0.0.1:60080"), Outside: netip.MustParseAddrPort("127.0.0.1:50000"), Loopback: loopback, Canary: `C:\canary`, Tmp: `C:\tmp`}
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		loopback bool
		change   func(b *box)
		code     problem.Code // "": passes
		text     string
	}{
		"all is well": {false, func(*box) {}, "", ""},
		"no road to the internet now": {false, func(b *box) {
			inner := b.dial
			b.dial = func(to netip.AddrPort, udp bool) error {
				if !to.Addr().IsLoopback() {
					return winapi.Errno(10051)
				}
				return inner(to, udp)
			}
		}, "", ""},
		"loopback open, and it is": {true, func(b *box) {
			b.dial = func(to netip.AddrPort, _ bool) error {
				if to.Addr().IsLoopback() {
					return nil
				}
				return winapi.Errno(10013)
			}
		}, "", ""},
		"loopback open and offline: nothing is proven": {true, func(b *box) {
			b.dial = func(to netip.AddrPort, _ bool) error {
				if to.Addr().IsLoopback() {
					return nil
				}
				return winapi.Errno(10051)
			}
		}, problem.FenceOpen, `self-check "fence": no attempt was blocked, so the fence is not proven`},
		"loopback said to be open and shut": {true, func(*box) {}, problem.FenceShut, `self-check "fence": a loopback port outside the proxy range is not reached: Windows error 10013`},
		"the internet times out": {false, func(b *box) {
			inner := b.dial
			b.dial = func(to netip.AddrPort, udp bool) error {
				if to.Addr().Is4() && !to.Addr().IsLoopback() && !udp {
					return winapi.Errno(10060)
				}
				return inner(to, udp)
			}
		}, problem.FenceOpen, `self-check "fence": an address on the internet was tried and not blocked: Windows error 10060`},
		"the fence for IPv6 is gone": {false, func(b *box) {
			inner := b.dial
			b.dial = func(to netip.AddrPort, udp bool) error {
				if to.Addr() == netip.IPv6Loopback() {
					return winapi.Errno(10061)
				}
				return inner(to, udp)
			}
		}, problem.FenceOpen, `self-check "fence": a loopback port outside the proxy range over IPv6 was tried and not blocked: Windows error 10061`},
		"no IPv6 at all": {false, func(b *box) {
			inner := b.dial
			b.dial = func(to netip.AddrPort, udp bool) error {
				if to.Addr().Is6() {
					return winapi.Errno(10047)
				}
				return inner(to, udp)
			}
		}, "", ""},
		"name servers are reached": {false, func(b *box) {
			inner := b.dial
			b.dial = func(to netip.AddrPort, udp bool) error {
				if udp {
					return nil
				}
				return inner(to, udp)
			}
		}, problem.FenceOpen, `self-check "fence": a name server was reached`},
		"an error without a number": {false, func(b *box) {
			inner := b.dial
			b.dial = func(to netip.AddrPort, udp bool) error {
				if to.Port() == 50000 {
					return errors.New("strange")
				}
				return inner(to, udp)
			}
		}, problem.FenceOpen, `self-check "fence": a loopback port outside the proxy range was tried and not blocked: strange`},
		"a file that is gone is no refusal": {false, func(b *box) {
			inner := b.touch
			b.touch = func(op, path string) error {
				if op == Attribute {
					return winapi.ErrFileNotFound
				}
				return inner(op, path)
			}
		}, problem.WriteOpen, `self-check "files": to set attributes of what only the Users group may change was not refused: not found (Windows error 2)`},
		"the own folder is shut": {false, func(b *box) { b.touch = func(string, string) error { return winapi.ErrAccessDenied } }, problem.WriteOpen,
			`self-check "files": the command's own folder "C:\\tmp\\srt-check" cannot be written: access denied (Windows error 5)`},
		"in no job":           {false, func(b *box) { b.jobs = winapi.ErrAccessDenied }, problem.Job, `self-check "job": the command is in no job: access denied (Windows error 5)`},
		"a job without walls": {false, func(b *box) { b.job.UI = 0 }, problem.Job, `self-check "job": the job is not the one that was asked for: its window limits are 0x0, asked for 0xff`},
	} {
		t.Run(name, func(t *testing.T) {
			b, spec := good()
			c.change(&b)
			s := Plan(place(c.loopback))
			raw, err := wire.Encode(Try(b, s))
			if err != nil {
				t.Fatal(err)
			}
			var r Report
			if err := wire.Decode(raw, wire.MaxMessage, &r); err != nil { // as it travels
				t.Fatal(err)
			}
			items, err := Judge(s, r, spec, account, "S-1-5-21-1-2-3-1003")
			if c.code == "" {
				if err != nil || len(items) != 2+len(s.Connections)+len(s.Touches) {
					t.Fatalf("%d items, %v", len(items), err)
				}
				return
			}
			if problem.Of(err) != c.code || err.Error() != c.text || problem.Fix(err) == "" {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestAnAnswerToAnotherQuestion(t *testing.T) {
	if _, err := Judge(Plan(place(false)), Report{}, winapi.TokenSpec{}, account, "S-1-5-21-1-2-3-1003"); err == nil || err.Error() != "self-check: the answer does not fit the question (a bug, please report)" {
		t.Fatalf("got %v", err)
	}
}
