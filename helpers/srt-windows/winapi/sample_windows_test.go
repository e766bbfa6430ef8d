package winapi

import (
	"fmt"
	"net/netip"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

func sampleFilter() Filter {
	return Filter{Key: "ba84c8f1-b003-43db-a01d-3486be4fcf64", Layer: "c38d57d1-05a7-4c33-904f-7fbceee60e82", Sublayer: "6c3ce732-08c8-4a59-873c-0b14920faa77",
		Provider: "9c5e2afe-d077-470f-aff2-0dd168369d9e", Name: "n", Description: "d", Weight: 1<<40 + 7, Action: ActionBlock, Hard: true, Persistent: true,
		Conditions: []Condition{
			{Field: "632ce23b-5167-435c-86d7-e903684aa80c", Kind: ValueFlags, Number: 1},
			{Field: "3971ef2b-623e-4f9a-8cb1-6e79b806b9a7", Kind: ValueUint8, Number: 6},
			{Field: "c35a604d-d22b-4e1a-91b4-68f674ee674b", Kind: ValueRange16, Low: 60080, High: 60089},
			{Field: "b235ae9a-1d64-49b8-a44c-5ff3d9095045", Kind: ValueNet4, Net: netip.MustParsePrefix("127.0.0.0/8")},
			{Field: "b235ae9a-1d64-49b8-a44c-5ff3d9095045", Kind: ValueNet4, Net: netip.MustParsePrefix("127.0.0.1/32")},
			{Field: "b235ae9a-1d64-49b8-a44c-5ff3d9095045", Kind: ValueNet6, Net: netip.MustParsePrefix("::1/128")},
			{Field: "af043a0a-b34d-4f86-979c-c90371af6e66", Kind: ValueIdentity,
				Identity: sd.Descriptor{Owner: sd.LocalSystem, Group: sd.LocalSystem, DACL: []sd.ACE{{Mask: 1, SID: "S-1-5-21-1-2-3-4"}}}},
		}}
}

func sameFilter(a, b Filter) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }
