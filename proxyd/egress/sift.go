package egress

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/srt-dev/srt/proxyd/ipclass"
)

// Refusal is an answer of the policy: every address of the name was refused.
type Refusal struct {
	Reason string       // "resolved to a loopback address": classes, never addresses
	Addrs  []netip.Addr // for the log only
}

// Error implements error.
func (r *Refusal) Error() string { return r.Reason }

// Classes that package ipclass does not know, because they depend on the settings or on this host.
const (
	denyListed  = "a deny-listed address"
	listed      = "a listed address"
	thisHost    = "an address of this host"
	notLoopback = "an address that is not loopback"
)

// classOrder is the order in which a refusal names several classes, so that its text does not depend on the resolver's mood.
var classOrder = []string{
	denyListed, ipclass.Loopback.String(), ipclass.Unspecified.String(), ipclass.LinkLocal.String(), ipclass.Multicast.String(),
	ipclass.Broadcast.String(), ipclass.Metadata.String(), listed, thisHost, notLoopback, ipclass.Invalid.String(),
}

// candidate is an address that may be dialled. named says that a list names the address itself.
type candidate struct {
	addr  netip.Addr
	named bool
}

// maxCandidates bounds what one name can make us dial.
const maxCandidates = 16

// sift keeps the addresses that t's name may lead to; the refusal speaks of the others and is nil when there are none.
func (d *Dialer) sift(t Target, addrs []netip.Addr) ([]candidate, *Refusal) {
	local, err := d.local()
	unknown := err != nil // this host's addresses cannot be read: the fixed classes still hold, and sameHost catches the rest
	var keep []candidate
	var dropped []netip.Addr
	var why []string
	for _, a := range addrs {
		if class, named := d.judge(t, a, local, unknown); class == "" {
			keep = append(keep, candidate{a, named})
		} else {
			dropped = append(dropped, a)
			if !slices.Contains(why, class) {
				why = append(why, class)
			}
		}
	}
	if len(keep) > maxCandidates {
		keep = keep[:maxCandidates]
	}
	if len(dropped) == 0 {
		return keep, nil
	}
	slices.SortFunc(why, func(a, b string) int { return slices.Index(classOrder, a) - slices.Index(classOrder, b) })
	return keep, &Refusal{Reason: "resolved to " + strings.Join(why, " / "), Addrs: dropped}
}

// judge says why the name may not lead to a; "" when it may. Denials are asked about every form of a, permissions only about a itself:
// that ::1 is the IPv4-compatible form of 0.0.0.1 must not allow anybody anything.
func (d *Dialer) judge(t Target, a netip.Addr, local []netip.Addr, unknown bool) (class string, named bool) {
	forms := ipclass.Forms(a)
	if slices.ContainsFunc(forms, t.DeniesAddr) {
		return denyListed, false
	}
	if t.AllowsAddr(a) {
		return "", true
	}
	if t.Dest.Host.IsLocalhost() {
		if a.IsLoopback() {
			return "", true
		}
		return notLoopback, false
	}
	if c := ipclass.Of(a); c != ipclass.Ordinary {
		return c.String(), false
	}
	for _, form := range forms {
		for _, p := range d.denied {
			if p.Contains(form) {
				return listed, false
			}
		}
		if !unknown && slices.Contains(local, form) {
			return thisHost, false
		}
	}
	return "", false
}
