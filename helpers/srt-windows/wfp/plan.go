// Package wfp plans and applies the egress fence: filters of the Windows Filtering Platform keyed on the sandbox account. The plan is
// pure; Apply makes all of it in one transaction or none. It must never permit anything to another identity, and never block one.
package wfp

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Spec is what the fence depends on.
type Spec struct {
	Account   sd.SID
	Low, High int         // proxy ports, both inside
	Loopback  bool        // the account may use every loopback port
	Sublayer  winapi.GUID // "": srt's own
}

// Set is a whole fence.
type Set struct {
	Provider winapi.Provider
	Sublayer winapi.Sublayer
	Filters  []winapi.Filter
	Others   []winapi.Sublayer // of srt's that are left of another fence; a planned one has none
}

// Layers and fields of the platform, by the names of its documentation.
const (
	connect4 winapi.GUID = "c38d57d1-05a7-4c33-904f-7fbceee60e82" // FWPM_LAYER_ALE_AUTH_CONNECT_V4
	connect6 winapi.GUID = "4a72393b-319f-44bc-84c3-ba54dcb3b6b4" // FWPM_LAYER_ALE_AUTH_CONNECT_V6
	accept4  winapi.GUID = "e1cd9fe7-f4b5-4273-96c0-592e487b8650" // FWPM_LAYER_ALE_AUTH_RECV_ACCEPT_V4
	accept6  winapi.GUID = "a3b42c97-9f04-4672-b87e-cee9c483257f" // FWPM_LAYER_ALE_AUTH_RECV_ACCEPT_V6

	fieldUser       winapi.GUID = "af043a0a-b34d-4f86-979c-c90371af6e66" // FWPM_CONDITION_ALE_USER_ID
	fieldFlags      winapi.GUID = "632ce23b-5167-435c-86d7-e903684aa80c" // FWPM_CONDITION_FLAGS
	fieldProtocol   winapi.GUID = "3971ef2b-623e-4f9a-8cb1-6e79b806b9a7" // FWPM_CONDITION_IP_PROTOCOL
	fieldRemoteAddr winapi.GUID = "b235ae9a-1d64-49b8-a44c-5ff3d9095045" // FWPM_CONDITION_IP_REMOTE_ADDRESS
	fieldRemotePort winapi.GUID = "c35a604d-d22b-4e1a-91b4-68f674ee674b" // FWPM_CONDITION_IP_REMOTE_PORT
	fieldLocalPort  winapi.GUID = "0c1ba1af-5765-453f-af22-a8f791ac775b" // FWPM_CONDITION_IP_LOCAL_PORT

	flagLoopback = 1 // FWP_CONDITION_FLAG_IS_LOOPBACK; also set for this machine's own other addresses, hence the address beside it
	protocolTCP  = 6
)

var layerNames = map[winapi.GUID]string{connect4: "connect v4", connect6: "connect v6", accept4: "accept v4", accept6: "accept v6"}

var fieldNames = map[winapi.GUID]string{fieldUser: "user", fieldFlags: "flags", fieldProtocol: "protocol",
	fieldRemoteAddr: "remote address", fieldRemotePort: "remote port", fieldLocalPort: "local port"}

// Weights order the filters within the sublayer; the highest that matches decides.
const (
	weightProxy     = 40 // the way to the proxies
	weightProxyPort = 30 // nobody in the sandbox answers on a proxy's port
	weightLoopback  = 20 // --allow-loopback
	weightBlock     = 10 // everything else
)

type row struct {
	name, reason string
	layer, key   winapi.GUID
	weight       uint64
	action       int
	loopbackOnly bool // part of the set only with Spec.Loopback
	tests        func(Spec) []winapi.Condition
}

// rows is the fence.
var rows = []row{
	{"srt proxy v4", "commands reach the proxies that decide for them, over TCP on 127.0.0.1 and nowhere else", connect4, "0da52a9f-5e3c-4644-8905-7a65424cbcd5", weightProxy, winapi.ActionPermit, false, toProxy(exact4)},
	{"srt proxy v6", "the same on ::1", connect6, "fe174df2-46c4-462b-93f0-68afb460a1cd", weightProxy, winapi.ActionPermit, false, toProxy(exact6)},
	{"srt loopback v4", "--allow-loopback: local servers", connect4, "5812336e-ae55-41aa-84d4-d51f3ceec08d", weightLoopback, winapi.ActionPermit, true, toLoopback(net4)},
	{"srt loopback v6", "--allow-loopback: local servers", connect6, "4a065f63-4b6f-49a8-9673-c46992d78bdb", weightLoopback, winapi.ActionPermit, true, toLoopback(exact6)},
	{"srt block v4", "no other connection leaves the account, TCP, UDP or raw", connect4, "ba84c8f1-b003-43db-a01d-3486be4fcf64", weightBlock, winapi.ActionBlock, false, anything},
	{"srt block v6", "the same for IPv6", connect6, "dd77eb58-38b9-4793-80d9-5a00bed0ad82", weightBlock, winapi.ActionBlock, false, anything},
	{"srt proxy ports v4", "with loopback open, a command must not answer in a proxy's place", accept4, "0719f230-1fd2-4e73-b390-6fdc06482ccd", weightProxyPort, winapi.ActionBlock, true, onProxyPort},
	{"srt proxy ports v6", "the same for IPv6", accept6, "93ea6d13-d59e-49db-9785-a8312e72f53f", weightProxyPort, winapi.ActionBlock, true, onProxyPort},
	{"srt accept loopback v4", "--allow-loopback: local servers are answered to", accept4, "ba7818a3-1b24-48bd-8ea9-e2e4a92d4da9", weightLoopback, winapi.ActionPermit, true, toLoopback(net4)},
	{"srt accept loopback v6", "--allow-loopback: local servers are answered to", accept6, "df7e89a9-b89a-46f5-bc90-3dd109ffd528", weightLoopback, winapi.ActionPermit, true, toLoopback(exact6)},
	{"srt accept block v4", "nobody outside connects to a command and feeds it or drains it", accept4, "45f05d33-9c9e-4730-9642-cfb6b403a16e", weightBlock, winapi.ActionBlock, false, anything},
	{"srt accept block v6", "the same for IPv6", accept6, "127163cd-ce9d-469e-afa5-be7d37f31b16", weightBlock, winapi.ActionBlock, false, anything},
}

var (
	exact4 = winapi.Condition{Field: fieldRemoteAddr, Kind: winapi.ValueNet4, Net: netip.MustParsePrefix("127.0.0.1/32")}
	net4   = winapi.Condition{Field: fieldRemoteAddr, Kind: winapi.ValueNet4, Net: netip.MustParsePrefix("127.0.0.0/8")}
	exact6 = winapi.Condition{Field: fieldRemoteAddr, Kind: winapi.ValueNet6, Net: netip.MustParsePrefix("::1/128")}
	local  = winapi.Condition{Field: fieldFlags, Kind: winapi.ValueFlags, Number: flagLoopback}
	tcp    = winapi.Condition{Field: fieldProtocol, Kind: winapi.ValueUint8, Number: protocolTCP}
)

func toProxy(addr winapi.Condition) func(Spec) []winapi.Condition {
	return func(s Spec) []winapi.Condition {
		return []winapi.Condition{local, tcp, addr, {Field: fieldRemotePort, Kind: winapi.ValueRange16, Low: uint16(s.Low), High: uint16(s.High)}}
	}
}

func toLoopback(addr winapi.Condition) func(Spec) []winapi.Condition {
	return func(Spec) []winapi.Condition { return []winapi.Condition{local, addr} }
}

func onProxyPort(s Spec) []winapi.Condition {
	return []winapi.Condition{{Field: fieldLocalPort, Kind: winapi.ValueRange16, Low: uint16(s.Low), High: uint16(s.High)}}
}

func anything(Spec) []winapi.Condition { return nil }

// Identity is the descriptor that lets exactly the tokens of the account match. The entries beside the account's own let nobody
// else match; they keep the second half of the comparison, which Windows makes for restricted and AppContainer tokens, from failing
// and so from letting such a child of the account out.
func Identity(account sd.SID) sd.Descriptor {
	return sd.Descriptor{Owner: sd.LocalSystem, Group: sd.LocalSystem, DACL: []sd.ACE{
		{Mask: sd.MatchFilter, SID: account},              // the account
		{Mask: sd.MatchFilter, SID: sd.Restricted},        // its restricted tokens
		{Mask: sd.MatchFilter, SID: sd.AllAppPackages},    // its AppContainers
		{Mask: sd.MatchFilter, SID: sd.AllRestrictedApps}, // its less privileged AppContainers
	}}
}

// Plan gives the fence, or says what is wrong with the spec.
func Plan(s Spec) (Set, error) {
	if err := CheckRange(s.Low, s.High); err != nil {
		return Set{}, err
	}
	if _, err := sd.ParseSID(string(s.Account)); err != nil {
		return Set{}, err
	}
	if !s.Account.Account() {
		return Set{}, fmt.Errorf("%s is no account that somebody made: a fence on it would shut others in", s.Account)
	}
	if s.Sublayer == "" {
		s.Sublayer = limits.Sublayer
	}
	if err := CheckGUID(s.Sublayer); err != nil {
		return Set{}, err
	}
	set := Set{
		Provider: winapi.Provider{Key: limits.Provider, Name: "srt", Description: "Egress fence of srt's sandbox account", Persistent: true},
		Sublayer: winapi.Sublayer{Key: s.Sublayer, Provider: limits.Provider, Name: "srt sandbox", Description: "Egress fence of srt's sandbox account",
			Weight: limits.SublayerWeight, Persistent: true},
	}
	user := winapi.Condition{Field: fieldUser, Kind: winapi.ValueIdentity, Identity: Identity(s.Account)}
	for _, r := range rows {
		if r.loopbackOnly && !s.Loopback {
			continue
		}
		set.Filters = append(set.Filters, winapi.Filter{
			Key: r.key, Layer: r.layer, Sublayer: s.Sublayer, Provider: limits.Provider, Name: r.name, Description: r.reason,
			Weight: r.weight, Action: r.action, Hard: r.action == winapi.ActionBlock, Persistent: true,
			Conditions: append([]winapi.Condition{user}, r.tests(s)...),
		})
	}
	return set, nil
}

// CheckRange says what is wrong with a range of proxy ports.
func CheckRange(low, high int) error {
	switch {
	case low > high:
		return fmt.Errorf("proxy port range %d-%d: the first port is above the last", low, high)
	case low < limits.ProxyPortMin || high > 65535:
		return fmt.Errorf("proxy port range %d-%d: ports must lie in %d-65535, where no service is assigned one", low, high, limits.ProxyPortMin)
	case high-low >= limits.ProxyPortSpan:
		return fmt.Errorf("proxy port range %d-%d: at most %d ports, because each is an opening in the fence", low, high, limits.ProxyPortSpan)
	}
	return nil
}

// CheckGUID accepts the lower-case form without braces that srt compares by, and no other.
func CheckGUID(g winapi.GUID) error {
	parts := strings.Split(string(g), "-")
	want := []int{8, 4, 4, 4, 12}
	ok := len(parts) == len(want) && g != "00000000-0000-0000-0000-000000000000"
	for i := 0; ok && i < len(want); i++ {
		ok = len(parts[i]) == want[i] && strings.Trim(parts[i], "0123456789abcdef") == ""
	}
	if !ok {
		return fmt.Errorf("GUID %q: want the form 6c3ce732-08c8-4a59-873c-0b14920faa77, lower case, without braces: %w", g, errGUID)
	}
	return nil
}

var errGUID = errors.New("not a GUID")
