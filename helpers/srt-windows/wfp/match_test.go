package wfp

import (
	"net/netip"

	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func all(conditions []winapi.Condition, test func(winapi.Condition) bool) bool {
	for _, c := range conditions {
		if !test(c) {
			return false
		}
	}
	return true
}
