package winapi

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

// Structures of fwpmtypes.h and fwptypes.h for 64-bit Windows; a test holds their sizes and offsets.
type fwpmDisplay struct{ name, description *uint16 }

type fwpmSession0 struct {
	key        windows.GUID
	display    fwpmDisplay
	flags      uint32
	txnWait    uint32 // milliseconds
	pid        uint32
	sid        *windows.SID
	user       *uint16
	kernelMode uint32
}

type fwpBlob struct {
	size uint32
	data *byte
}

type fwpmProvider0 struct {
	key     windows.GUID
	display fwpmDisplay
	flags   uint32
	data    fwpBlob
	service *uint16
}

type fwpmSublayer0 struct {
	key      windows.GUID
	display  fwpmDisplay
	flags    uint32
	provider *windows.GUID
	data     fwpBlob
	weight   uint16
}

type fwpValue0 struct {
	kind  uint32
	value uintptr // the value itself, or where it is
}

type fwpmCondition0 struct {
	field windows.GUID
	match uint32
	value fwpValue0
}

type fwpmFilter0 struct {
	key           windows.GUID
	display       fwpmDisplay
	flags         uint32
	provider      *windows.GUID
	data          fwpBlob
	layer         windows.GUID
	sublayer      windows.GUID
	weight        fwpValue0
	numConditions uint32
	conditions    *fwpmCondition0
	action        uint32
	actionGUID    windows.GUID
	_             [4]byte
	context       [16]byte
	reserved      *windows.GUID
	id            uint64
	effective     fwpValue0
}

type fwpRange0 struct{ low, high fwpValue0 }

type fwpNet4 struct{ addr, mask uint32 } // host order

type fwpNet6 struct {
	addr   [16]byte
	length uint8
}

const (
	fwpmPersistent  = 0x1
	fwpmClearAction = 0x8 // a hard decision
	fwpmFilterOff   = 0x20
	fwpmProviderOff = 0x10

	fwpUint8  = 1
	fwpUint16 = 2
	fwpUint32 = 3
	fwpUint64 = 4

	matchEqual       = 0
	matchRange       = 5
	matchFlagsAllSet = 6
)

func persistent(p bool) uint32 {
	if p {
		return fwpmPersistent
	}
	return 0
}

func guid(g GUID) (windows.GUID, error) {
	out, err := windows.GUIDFromString("{" + string(g) + "}")
	return out, errOf(err)
}

func guidText(g windows.GUID) GUID { return GUID(strings.ToLower(strings.Trim(g.String(), "{}"))) }

func guidAt(g *windows.GUID) GUID {
	if g == nil {
		return ""
	}
	return guidText(*g)
}

func display(name, description string) (fwpmDisplay, error) {
	n, err := utf16(name)
	if err != nil {
		return fwpmDisplay{}, errOf(err)
	}
	d, err := utf16(description)
	return fwpmDisplay{n, d}, errOf(err)
}

// nativeFilter makes the structure. What it points to by number is put into keep, which the caller keeps alive.
func nativeFilter(x Filter, keep *[]any) (*fwpmFilter0, error) {
	n := &fwpmFilter0{action: uint32(x.Action), flags: persistent(x.Persistent), numConditions: uint32(len(x.Conditions))}
	if x.Hard {
		n.flags |= fwpmClearAction
	}
	provider := new(windows.GUID)
	for _, g := range []struct {
		to   *windows.GUID
		from GUID
	}{{&n.key, x.Key}, {&n.layer, x.Layer}, {&n.sublayer, x.Sublayer}, {provider, x.Provider}} {
		v, err := guid(g.from)
		if err != nil {
			return nil, err
		}
		*g.to = v
	}
	n.provider = provider
	var err error
	if n.display, err = display(x.Name, x.Description); err != nil {
		return nil, err
	}
	weight := new(uint64)
	*weight = x.Weight
	n.weight = fwpValue0{fwpUint64, uintptr(unsafe.Pointer(weight))}
	*keep = append(*keep, weight, provider)
	if len(x.Conditions) == 0 {
		return nil, fmt.Errorf("filter %q has no condition: it would hold for everybody", x.Name)
	}
	list := make([]fwpmCondition0, len(x.Conditions))
	for i, c := range x.Conditions {
		if list[i], err = nativeCondition(c, keep); err != nil {
			return nil, fmt.Errorf("filter %q: %w", x.Name, err)
		}
	}
	n.conditions = &list[0]
	return n, nil
}

func nativeCondition(c Condition, keep *[]any) (fwpmCondition0, error) {
	field, err := guid(c.Field)
	if err != nil {
		return fwpmCondition0{}, err
	}
	n := fwpmCondition0{field: field, match: matchEqual}
	switch c.Kind {
	case ValueFlags:
		n.match, n.value = matchFlagsAllSet, fwpValue0{fwpUint32, uintptr(c.Number)}
	case ValueUint8:
		n.value = fwpValue0{fwpUint8, uintptr(c.Number & 0xFF)}
	case ValueRange16:
		r := &fwpRange0{fwpValue0{fwpUint16, uintptr(c.Low)}, fwpValue0{fwpUint16, uintptr(c.High)}}
		*keep = append(*keep, r)
		n.match, n.value = matchRange, fwpValue0{ValueRange16, uintptr(unsafe.Pointer(r))}
	case ValueNet4:
		a := c.Net.Addr().As4()
		v := &fwpNet4{binary.BigEndian.Uint32(a[:]), ^uint32(0) << (32 - c.Net.Bits())}
		*keep = append(*keep, v)
		n.value = fwpValue0{ValueNet4, uintptr(unsafe.Pointer(v))}
	case ValueNet6:
		v := &fwpNet6{c.Net.Addr().As16(), uint8(c.Net.Bits())}
		*keep = append(*keep, v)
		n.value = fwpValue0{ValueNet6, uintptr(unsafe.Pointer(v))}
	case ValueIdentity:
		raw, err := c.Identity.Encode()
		if err != nil {
			return n, err
		}
		b := &fwpBlob{uint32(len(raw)), &raw[0]}
		*keep = append(*keep, b)
		n.value = fwpValue0{ValueIdentity, uintptr(unsafe.Pointer(b))}
	default:
		return n, fmt.Errorf("a condition of the unknown kind %d", c.Kind)
	}
	return n, nil
}

// at reads what a value points to.
func at[T any](v fwpValue0) *T { return *(**T)(unsafe.Pointer(&v.value)) }

// plainFilter reads a structure back. What srt would not have written comes out as an unknown kind or a different text, never as equal.
func plainFilter(n *fwpmFilter0) Filter {
	x := Filter{Key: guidText(n.key), Layer: guidText(n.layer), Sublayer: guidText(n.sublayer), Provider: guidAt(n.provider),
		Name: windows.UTF16PtrToString(n.display.name), Description: windows.UTF16PtrToString(n.display.description), Action: int(n.action),
		Hard: n.flags&fwpmClearAction != 0, Persistent: n.flags&fwpmPersistent != 0, Off: n.flags&fwpmFilterOff != 0}
	if n.weight.kind == fwpUint64 {
		x.Weight = *at[uint64](n.weight)
	}
	for _, c := range unsafe.Slice(n.conditions, n.numConditions) {
		x.Conditions = append(x.Conditions, plainCondition(c))
	}
	return x
}

func plainCondition(n fwpmCondition0) Condition {
	c := Condition{Field: guidText(n.field), Kind: -1}
	switch v := n.value; {
	case n.match == matchFlagsAllSet && v.kind == fwpUint32:
		c.Kind, c.Number = ValueFlags, uint32(v.value)
	case n.match == matchEqual && v.kind == fwpUint8:
		c.Kind, c.Number = ValueUint8, uint32(uint8(v.value))
	case n.match == matchRange && v.kind == ValueRange16:
		if r := at[fwpRange0](v); r.low.kind == fwpUint16 && r.high.kind == fwpUint16 {
			c.Kind, c.Low, c.High = ValueRange16, uint16(r.low.value), uint16(r.high.value)
		}
	case n.match == matchEqual && v.kind == ValueNet4:
		p := at[fwpNet4](v)
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], p.addr)
		c.Kind, c.Net = ValueNet4, netip.PrefixFrom(netip.AddrFrom4(a), ones(p.mask))
	case n.match == matchEqual && v.kind == ValueNet6:
		p := at[fwpNet6](v)
		c.Kind, c.Net = ValueNet6, netip.PrefixFrom(netip.AddrFrom16(p.addr), int(p.length))
	case n.match == matchEqual && v.kind == ValueIdentity:
		b := at[fwpBlob](v)
		if d, err := sd.Decode(unsafe.Slice(b.data, b.size)); err == nil {
			c.Kind, c.Identity = ValueIdentity, d
		}
	}
	return c
}

// ones counts the leading ones of a mask; one with a gap is no prefix and comes out as invalid.
func ones(mask uint32) int {
	for n := range 33 {
		if mask == uint32(uint64(0xFFFFFFFF)<<(32-n)) {
			return n
		}
	}
	return -1
}
