package seccomp

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/bpf"
	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/rules"
)

// Options choose the variant; the zero value refuses most. See rules.Options.
type Options = rules.Options

// Program gives the filter for this architecture, ready for SECCOMP_SET_MODE_FILTER.
func Program(o Options) ([]unix.SockFilter, error) {
	if o.Explain && !o.Supervised {
		return nil, fmt.Errorf("filter: nobody would answer for opens: Explain needs Supervised (a bug, please report)")
	}
	raw, err := embedded(o.Name())
	if err != nil {
		return nil, err
	}
	insts, err := bpf.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("embedded %w (a bug, please report)", err)
	}
	p := make([]unix.SockFilter, len(insts))
	for i, in := range insts {
		p[i] = unix.SockFilter(in)
	}
	return p, nil
}

// CallName names a system call of the table by its number on this architecture; "" when the table does not name it.
func CallName(nr int) string { return rules.NameOf(native, nr) }
