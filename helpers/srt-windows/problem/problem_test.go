package problem

import (
	"errors"
	"fmt"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

func TestTable(t *testing.T) {
	codes, exits := map[Code]bool{}, map[int]bool{}
	for _, r := range Table {
		if codes[r.Code] || exits[r.Exit] {
			t.Errorf("%s or status %d stands twice", r.Code, r.Exit)
		}
		codes[r.Code], exits[r.Exit] = true, true
		if r.Exit <= 0 || r.Exit > 63 || r.Meaning == "" || r.Fault == "" {
			t.Errorf("%s: status %d, meaning %q, fault %q", r.Code, r.Exit, r.Meaning, r.Fault)
		}
		if got := Exit(fmt.Errorf("wrapped: %w", &Error{Code: r.Code})); got != r.Exit {
			t.Errorf("%s: exits with %d", r.Code, got)
		}
	}
}

func TestForms(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		exit  int
		fault wire.Fault
	}{
		"a refusal": {&Error{Code: NotInstalled, Op: "plan", Detail: "not installed", Fix: "srt-windows install"}, 10,
			wire.Fault{Code: wire.CodeUnsupported, Op: "plan", Detail: "not installed", Hint: "srt-windows install"}},
		"a refusal with a cause": {&Error{Code: Policy, Op: "grant", Path: `C:\a`, Detail: "cannot", Err: errors.New("denied")}, 30,
			wire.Fault{Code: wire.CodePolicy, Op: "grant", Path: `C:\a`, Detail: "cannot: denied"}},
		"an unknown code fails": {&Error{Code: "new", Detail: "x"}, 1, wire.Fault{Code: wire.CodeInternal, Detail: "x"}},
		"any other error":       {errors.New("x"), 1, wire.Fault{Code: wire.CodeInternal, Op: "srt-windows", Detail: "x"}},
		"another system":        {fmt.Errorf("no: %w", errors.ErrUnsupported), 3, wire.Fault{Code: wire.CodeUnsupported, Op: "srt-windows", Detail: "no: unsupported operation"}},
		"a fault stays a fault": {&wire.Fault{Code: wire.CodePolicy, Op: "a", Detail: "b"}, 1, wire.Fault{Code: wire.CodePolicy, Op: "a", Detail: "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Exit(c.err); got != c.exit {
				t.Errorf("exit %d, want %d", got, c.exit)
			}
			if got := *Fault(c.err); got != c.fault {
				t.Errorf("fault %+v, want %+v", got, c.fault)
			}
		})
	}
	if Exit(nil) != 0 {
		t.Error("no error does not exit with 0")
	}
}
