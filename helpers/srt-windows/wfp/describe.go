package wfp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Describe gives the fence as text, one filter a paragraph in the order in which they decide. Two fences are equal when their texts are.
func Describe(s Set) string {
	var b strings.Builder
	fmt.Fprintf(&b, "provider %s %q persistent=%v\n", s.Provider.Key, s.Provider.Name, s.Provider.Persistent)
	fmt.Fprintf(&b, "sublayer %s %q weight=%d persistent=%v\n", s.Sublayer.Key, s.Sublayer.Name, s.Sublayer.Weight, s.Sublayer.Persistent)
	for _, f := range ordered(s.Filters) {
		b.WriteString("\n" + describeFilter(f))
	}
	return b.String()
}

func ordered(filters []winapi.Filter) []winapi.Filter {
	layers := []winapi.GUID{connect4, connect6, accept4, accept6}
	return slices.SortedStableFunc(slices.Values(filters), func(a, b winapi.Filter) int {
		if d := slices.Index(layers, a.Layer) - slices.Index(layers, b.Layer); d != 0 {
			return d
		}
		if a.Weight != b.Weight {
			return int(min(b.Weight, 1<<30)) - int(min(a.Weight, 1<<30))
		}
		return strings.Compare(string(a.Key), string(b.Key))
	})
}

func describeFilter(f winapi.Filter) string {
	action := map[int]string{winapi.ActionBlock: "BLOCK", winapi.ActionPermit: "PERMIT"}[f.Action]
	if action == "" {
		action = fmt.Sprintf("action 0x%x", f.Action)
	}
	if f.Hard {
		action += " hard"
	}
	if f.Off {
		action += ", not applied,"
	}
	layer := layerNames[f.Layer]
	if layer == "" {
		layer = string(f.Layer)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %q weight=%d persistent=%v\n", layer, action, f.Name, f.Weight, f.Persistent)
	fmt.Fprintf(&b, "  key %s, provider %s, sublayer %s\n", f.Key, f.Provider, f.Sublayer)
	fmt.Fprintf(&b, "  because: %s\n", f.Description)
	for _, c := range f.Conditions {
		fmt.Fprintf(&b, "  when %s\n", describeCondition(c))
	}
	return b.String()
}

func describeCondition(c winapi.Condition) string {
	field := fieldNames[c.Field]
	if field == "" {
		field = string(c.Field)
	}
	switch c.Kind {
	case winapi.ValueFlags:
		return fmt.Sprintf("%s has 0x%x", field, c.Number)
	case winapi.ValueUint8:
		return fmt.Sprintf("%s is %d", field, c.Number)
	case winapi.ValueRange16:
		return fmt.Sprintf("%s in %d-%d", field, c.Low, c.High)
	case winapi.ValueNet4, winapi.ValueNet6:
		return fmt.Sprintf("%s in %s", field, c.Net)
	case winapi.ValueIdentity:
		return fmt.Sprintf("%s matches %s", field, c.Identity)
	}
	return fmt.Sprintf("%s, a test of kind %d that srt did not make", field, c.Kind)
}

// Diff lists how the fence on the machine differs from the planned one; empty when it does not.
func Diff(want, have Set) []string {
	var out []string
	if have.Provider.Key == "" {
		out = append(out, fmt.Sprintf("provider %q is missing", want.Provider.Name))
	} else if d := describeProvider(want.Provider); d != describeProvider(have.Provider) {
		out = append(out, "the provider was changed: it is "+describeProvider(have.Provider)+", not "+d)
	}
	if have.Sublayer.Key == "" {
		out = append(out, fmt.Sprintf("sublayer %q is missing", want.Sublayer.Name))
	} else if d := describeSublayer(want.Sublayer); d != describeSublayer(have.Sublayer) {
		out = append(out, "the sublayer was changed: it is "+describeSublayer(have.Sublayer)+", not "+d)
	}
	for _, l := range have.Others {
		out = append(out, fmt.Sprintf("sublayer %q (%s) is not part of the fence", l.Name, l.Key))
	}
	got := make(map[winapi.GUID]winapi.Filter, len(have.Filters))
	for _, f := range have.Filters {
		got[f.Key] = f
	}
	for _, f := range ordered(want.Filters) {
		h, ok := got[f.Key]
		delete(got, f.Key)
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("filter %q is missing", f.Name))
		case describeFilter(h) != describeFilter(f):
			out = append(out, fmt.Sprintf("filter %q was changed", f.Name))
		}
	}
	for _, f := range ordered(have.Filters) {
		if _, left := got[f.Key]; left {
			out = append(out, fmt.Sprintf("filter %q (%s) is not part of the fence", f.Name, f.Key))
		}
	}
	return out
}

func describeProvider(p winapi.Provider) string {
	return fmt.Sprintf("%s persistent=%v off=%v", p.Key, p.Persistent, p.Off)
}

func describeSublayer(l winapi.Sublayer) string {
	return fmt.Sprintf("%s of provider %s weight=%d persistent=%v", l.Key, l.Provider, l.Weight, l.Persistent)
}
