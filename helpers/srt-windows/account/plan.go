// Package account plans and keeps the account that commands run under, and its group. The plan is pure. The account must never be
// able to log on while the fence does not stand: it is made disabled, and Enable is a step of its own.
package account

import (
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// CheckName says what is wrong with an account name.
func CheckName(name string) error {
	switch {
	case name == "" || len(name) > 20:
		return fmt.Errorf("account name %q: Windows takes 1 to 20 characters", name)
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "":
		return fmt.Errorf("account name %q: only letters, digits, - and _", name)
	case strings.Trim(name, "0123456789-_") == "":
		return fmt.Errorf("account name %q: needs a letter", name)
	}
	return nil
}

// NewPassword draws a password that every complexity rule accepts.
func NewPassword(random io.Reader) (string, error) {
	raw := make([]byte, limits.PasswordBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("draw a password: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw) + "aA1!", nil
}

// KeySecurity is the access list of srt's registry key: the system and administrators change it, and only the users who may run
// commands read it. The account itself must not be among them: with its password a command could log on without the restricted token.
func KeySecurity(users []sd.SID) sd.Descriptor {
	d := sd.Descriptor{Owner: sd.Administrators, Group: sd.Administrators, Protected: true, DACL: []sd.ACE{
		{Mask: limits.KeyAll, Flags: sd.ContainerInherit, SID: sd.LocalSystem},
		{Mask: limits.KeyAll, Flags: sd.ContainerInherit, SID: sd.Administrators},
	}}
	for _, u := range SortedUsers(users) {
		d.DACL = append(d.DACL, sd.ACE{Mask: limits.KeyRead, Flags: sd.ContainerInherit, SID: u})
	}
	return d
}

// SortedUsers gives each user once, in order.
func SortedUsers(users []sd.SID) []sd.SID {
	out := slices.Clone(users)
	slices.Sort(out)
	return slices.Compact(out)
}

// RunFolderSecurity is the access list of the folder that holds the running commands' own folders: each user makes some and owns
// them, sees their names, and reaches into none of another.
func RunFolderSecurity(users []sd.SID) sd.Descriptor {
	d := sd.Descriptor{Owner: sd.Administrators, Group: sd.Administrators, Protected: true, DACL: []sd.ACE{
		{Mask: sd.MaskAll, Flags: sd.Inherit, SID: sd.LocalSystem},
		{Mask: sd.MaskAll, Flags: sd.Inherit, SID: sd.Administrators},
	}}
	for _, u := range SortedUsers(users) {
		d.DACL = append(d.DACL, sd.ACE{Mask: sd.MaskPass | sd.ReadData | sd.AppendData, SID: u})
	}
	d.DACL = append(d.DACL, sd.ACE{Mask: sd.MaskPass, SID: sd.Users})
	return d
}

// Token is the account's ordinary token as far as access lists see it. Groups that Windows may leave out count as there.
func Token(ids IDs) sd.Token {
	t := sd.Token{User: ids.User, Groups: append(slices.Clone(limits.AccountGroups), ids.Group)}
	if none := ids.User.Beside(limits.NoGroup); none != "" {
		t.Groups = append(t.Groups, none)
	}
	return t
}

// drift compares what is with the tables. groups are those that the account must not be in.
func drift(u winapi.User, member bool, groups []sd.SID, group string, rights []string, rightsKnown, enabled bool) []string {
	var out []string
	want := uint32(limits.AccountFlags)
	if !enabled {
		want = limits.AccountFlagsFenceless
	}
	if u.Flags&(want|limits.FlagDisabled|limits.FlagsForbidden) != want { // Windows adds others of its own
		out = append(out, fmt.Sprintf("account %q has the flags 0x%x instead of 0x%x", u.Name, u.Flags, want))
	}
	if !member {
		out = append(out, fmt.Sprintf("account %q is not a member of %q", u.Name, group))
	}
	for _, g := range groups {
		out = append(out, fmt.Sprintf("account %q is a member of the group %s, which srt did not do", u.Name, g))
	}
	if !rightsKnown {
		return out
	}
	for _, r := range limits.Rights {
		if !slices.Contains(rights, r) {
			out = append(out, fmt.Sprintf("account %q lacks %s", u.Name, r))
		}
	}
	for _, r := range rights {
		if !slices.Contains(limits.Rights, r) {
			out = append(out, fmt.Sprintf("account %q has %s, which srt did not give", u.Name, r))
		}
	}
	return out
}
