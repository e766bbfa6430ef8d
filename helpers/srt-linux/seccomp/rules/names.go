package rules

import (
	"fmt"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/bpf"
)

// Names gives a listing the words for call numbers and verdicts of a.
func Names(a Arch) bpf.Names {
	return bpf.Names{
		Call: func(nr uint32) string { return NameOf(a, int(nr)) },
		Verdict: func(v uint32) string {
			switch Verdict(v) {
			case Allow:
				return "allow"
			case Notify:
				return "notify"
			case Kill:
				return "kill"
			}
			if e, ok := Verdict(v).Errno(); ok {
				return "errno " + errnoName(e)
			}
			return ""
		},
	}
}

func errnoName(e uint16) string {
	switch e {
	case eperm:
		return "EPERM"
	case enosys:
		return "ENOSYS"
	case eprotonosupport:
		return "EPROTONOSUPPORT"
	case eafnosupport:
		return "EAFNOSUPPORT"
	}
	return fmt.Sprint(e)
}
