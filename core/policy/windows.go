package policy

import (
	"fmt"
	"strings"

	"github.com/srt-dev/srt/core/wire"
)

// maxUser is how long the name of a local account may be, and notInUser is what it may not hold.
const (
	maxUser   = 20
	notInUser = "\"/\\[]:;|=,+*?<>@"
)

// checkWindows reads what the settings say about the installation, on Windows alone: another sandbox's file may describe there what srt
// cannot install, which is no reason to refuse it elsewhere.
func checkWindows(r *resolver) error {
	if r.p.ctx.GOOS != "windows" {
		return nil
	}
	w := &r.f.Windows
	out := wire.WindowsHost{SandboxUser: w.SandboxUser, ProxyPortLow: wire.ProxyPortLow, ProxyPortHigh: wire.ProxyPortHigh}
	if u := w.SandboxUser; len(u) > maxUser || strings.ContainsAny(u, notInUser) || strings.Trim(u, " .") != u || strings.ContainsFunc(u, isControl) {
		return r.f.Errorf(quote(u)+" cannot be the name of a local account", fmt.Sprintf("write at most %d characters, as given to srt-windows install --sandbox-user", maxUser), "windows", "sandboxUser")
	}
	for _, k := range []struct{ key, value string }{{"wfpSublayerGuid", w.WFPSublayerGUID}, {"sublayerGuid", w.SublayerGUID}} {
		if k.value == "" {
			continue
		}
		if !isGUID(k.value) {
			return r.f.Errorf(quote(k.value)+" is no GUID", `write it like "6c3ce732-08c8-4a59-873c-0b14920faa77", as given to srt-windows install --sublayer-guid`, "windows", k.key)
		}
		if out.Sublayer != "" && !strings.EqualFold(out.Sublayer, k.value) {
			return r.f.Errorf("sublayerGuid and wfpSublayerGuid, its old name, differ", "remove wfpSublayerGuid", "windows", "wfpSublayerGuid")
		}
		out.Sublayer = strings.ToLower(k.value)
	}
	if p := w.ProxyPortRange; p != nil {
		low, high := p[0], p[1]
		if low < wire.ProxyPortMin || high > 65535 || low > high || high-low >= wire.ProxyPortSpan {
			return r.f.Errorf(fmt.Sprintf("[%d, %d] is no range for the proxies", low, high), fmt.Sprintf("write [LOW, HIGH] with at most %d ports from %d to 65535, as given to srt-windows install --proxy-port-range",
				wire.ProxyPortSpan, wire.ProxyPortMin), "windows", "proxyPortRange")
		}
		out.ProxyPortLow, out.ProxyPortHigh = low, high
	}
	r.p.windows = out
	return nil
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// isGUID says whether s has the form 8-4-4-4-12 of hexadecimal digits.
func isGUID(s string) bool {
	parts := strings.Split(s, "-")
	if len(parts) != 5 {
		return false
	}
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(parts[i]) != n || strings.Trim(parts[i], "0123456789abcdefABCDEF") != "" {
			return false
		}
	}
	return true
}
