package account

import (
	"fmt"
	"slices"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

// Forger names who beside the system and its administrators may change srt's registry key, "" when nobody may. What such a key says is not
// believed: it names what an administrator removes, and who is let in.
func Forger(d sd.Descriptor) string {
	trusted := []sd.SID{sd.LocalSystem, sd.Administrators}
	switch {
	case d.NoDACL:
		return "everybody"
	case !slices.Contains(trusted, d.Owner):
		return string(d.Owner) + ", its owner,"
	}
	for _, a := range d.DACL {
		switch {
		case a.Opaque != nil:
			return fmt.Sprintf("whoever an entry of kind %d means", a.Kind)
		case a.Kind == sd.Allow && !slices.Contains(trusted, a.SID) && sd.KeyMapping.Map(a.Mask)&^limits.KeyRead != 0:
			return string(a.SID)
		}
	}
	return ""
}

// ReadBy names through whom the account may read the key, and so its own password, "" when it may not. Denials do not count.
func ReadBy(d sd.Descriptor, ids IDs) sd.SID {
	t := Token(ids)
	for _, a := range d.DACL {
		if a.Kind == sd.Allow && a.SID != "" && (a.SID == t.User || slices.Contains(t.Groups, a.SID)) {
			return a.SID
		}
	}
	return ""
}

// KeyDrift lists how the key's list differs from the one for users.
func KeyDrift(d sd.Descriptor, users []sd.SID, ids IDs) []string {
	if by := ReadBy(d, ids); by != "" {
		return []string{"the sandbox account can read its own password through " + string(by)}
	}
	want := KeySecurity(users)
	var out []string
	for _, a := range d.DACL {
		if a.Kind == sd.Allow && a.Opaque == nil && !slices.ContainsFunc(want.DACL, func(w sd.ACE) bool { return w.SID == a.SID }) {
			out = append(out, string(a.SID)+" can read the account's password, and srt did not let it in")
		}
	}
	if len(out) == 0 && (!d.Protected || !slices.EqualFunc(d.DACL, want.DACL, sd.ACE.Equal)) {
		out = append(out, "the access list of srt's registry key was changed")
	}
	return out
}
