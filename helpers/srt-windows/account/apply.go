package account

import (
	"errors"
	"fmt"
	"slices"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Names are the two things that are made.
type Names struct{ User, Group string }

// IDs are their identifiers.
type IDs struct{ User, Group sd.SID }

// Ensure makes account and group as the tables say, disabled, with the password; what is there already is brought in line.
func Ensure(api winapi.System, n Names, password string) (IDs, error) {
	var ids IDs
	if err := api.GroupAdd(n.Group, limits.GroupComment); err != nil && !errors.Is(err, winapi.ErrAliasExists) {
		return ids, fmt.Errorf("add group %q: %w", n.Group, err)
	}
	u := winapi.User{Name: n.User, Comment: limits.UserComment, Password: password, Flags: limits.AccountFlagsFenceless}
	switch err := api.UserAdd(u); {
	case errors.Is(err, winapi.ErrUserExists):
		if err := api.UserSetFlags(n.User, limits.AccountFlagsFenceless); err != nil {
			return ids, fmt.Errorf("disable account %q: %w", n.User, err)
		}
		if err := api.UserSetPassword(n.User, password); err != nil {
			return ids, fmt.Errorf("set the password of %q: %w", n.User, err)
		}
	case err != nil:
		return ids, fmt.Errorf("add account %q: %w", n.User, err)
	}
	var err error
	if ids, err = Lookup(api, n); err != nil {
		return ids, err
	}
	if err := confine(api, n, ids); err != nil {
		return ids, err
	}
	if err := api.GroupAddMember(n.Group, ids.User); err != nil && !errors.Is(err, winapi.ErrMemberInAlias) {
		return ids, fmt.Errorf("add %q to %q: %w", n.User, n.Group, err)
	}
	if err := clearRights(api, n, ids); err != nil {
		return ids, err
	}
	if err := api.RightsAdd(ids.User, limits.Rights); err != nil {
		return ids, fmt.Errorf("set the logon rights of %q: %w", n.User, err)
	}
	if err := hide(api, n.User); err != nil {
		return ids, fmt.Errorf("hide %q from the logon screen: %w", n.User, err)
	}
	return ids, checkDrift(api, n, false)
}

// confine takes the account out of the groups that it must not be in, and everybody else out of its own group, which grants on files name.
// What runs under the account has the rights that it was started with, and is ended.
func confine(api winapi.System, n Names, ids IDs) error {
	foreign, err := ForeignGroups(api, n.User, ids)
	if err != nil {
		return err
	}
	if len(foreign) > 0 {
		if err := EndAll(api, ids.User); err != nil {
			return err
		}
	}
	for _, g := range foreign {
		switch err := api.GroupDelMember(g, ids.User); {
		case errors.Is(err, winapi.ErrMemberNotInAlias):
			return &problem.Error{Code: problem.Drift, Op: "confine the account", Path: n.User, Detail: "it is in the group " + string(g) + " through another group, which is not srt's to change",
				Fix: "take that other group out of " + string(g) + " (lusrmgr.msc), then srt-windows install"}
		case err != nil:
			return fmt.Errorf("take account %q out of the group %s: %w", n.User, g, err)
		}
	}
	members, err := api.GroupMembers(n.Group)
	if err != nil {
		return fmt.Errorf("read group %q: %w", n.Group, err)
	}
	for _, m := range members {
		if m == ids.User {
			continue
		}
		if err := api.GroupDelMember(ids.Group, m); err != nil {
			return fmt.Errorf("take %s out of the group %q: %w", m, n.Group, err)
		}
	}
	return nil
}

// ForeignGroups are the groups that srt did not put the account in.
func ForeignGroups(api winapi.Accounts, user string, ids IDs) ([]sd.SID, error) {
	groups, err := api.GroupsOf(user)
	if err != nil {
		return nil, fmt.Errorf("read the groups of %q: %w", user, err)
	}
	return slices.DeleteFunc(groups, func(g sd.SID) bool { return g == ids.Group || slices.Contains(limits.ForeignGroups, g) }), nil
}

// EndAll ends what runs under the account. A process that a service starts in between dies at the second look.
func EndAll(api winapi.Self, user sd.SID) error {
	for range 3 {
		running, err := api.ProcessesOf(user)
		if err != nil {
			return fmt.Errorf("look for running commands: %w", err)
		}
		if len(running) == 0 {
			return nil
		}
		for _, pid := range running {
			if err := api.Terminate(pid); err != nil && !errors.Is(err, winapi.ErrFileNotFound) {
				return fmt.Errorf("end process %d: %w", pid, err)
			}
		}
	}
	return nil
}

// clearRights takes every right away, also from the group: what the group has, the account has.
func clearRights(api winapi.Accounts, n Names, ids IDs) error {
	for _, s := range []sd.SID{ids.User, ids.Group} {
		if s == "" {
			continue
		}
		if err := api.RightsRemoveAll(s); err != nil {
			return fmt.Errorf("clear the logon rights of %q and its group: %w", n.User, err)
		}
	}
	return nil
}

// hide makes the list of hidden accounts only where there is none: one that is there is not srt's.
func hide(api winapi.Registry, user string) error {
	err := api.ValueSet(limits.HiddenKey, user, winapi.Value{Kind: winapi.KindNumber})
	if !errors.Is(err, winapi.ErrFileNotFound) {
		return err
	}
	if err := api.KeyCreate(limits.HiddenKey, hiddenSecurity()); err != nil {
		return err
	}
	return api.ValueSet(limits.HiddenKey, user, winapi.Value{Kind: winapi.KindNumber})
}

// hiddenSecurity is what Windows itself gives keys there: everybody reads, administrators write.
func hiddenSecurity() sd.Descriptor {
	d := KeySecurity([]sd.SID{sd.Users})
	d.Protected = false
	return d
}

// Enable lets the account log on. Only install calls it, and only when the fence stands.
func Enable(api winapi.System, n Names) error {
	if err := api.UserSetFlags(n.User, limits.AccountFlags); err != nil {
		return fmt.Errorf("enable account %q: %w", n.User, err)
	}
	return checkDrift(api, n, true)
}

// Disable keeps the account from logging on; an account that is gone is disabled.
func Disable(api winapi.System, n Names) error {
	if err := api.UserSetFlags(n.User, limits.AccountFlagsFenceless); err != nil && !errors.Is(err, winapi.ErrUserNotFound) {
		return fmt.Errorf("disable account %q: %w", n.User, err)
	}
	return nil
}

// Remove takes away account, profile, rights, group and the hidden entry. What is gone already is skipped; ids are the recorded ones.
func Remove(api winapi.System, n Names, ids IDs) error {
	if err := Forget(api, n, ids.User); err != nil {
		return err
	}
	if err := clearRights(api, n, IDs{Group: ids.Group}); err != nil {
		return err
	}
	if err := api.UserDel(n.User); err != nil && !errors.Is(err, winapi.ErrUserNotFound) {
		return fmt.Errorf("remove account %q: %w", n.User, err)
	}
	if err := api.GroupDel(n.Group); err != nil && !errors.Is(err, winapi.ErrNoSuchAlias) && !errors.Is(err, winapi.ErrGroupNotFound) {
		return fmt.Errorf("remove group %q: %w", n.Group, err)
	}
	if err := api.ValueDelete(limits.HiddenKey, n.User); err != nil && !errors.Is(err, winapi.ErrFileNotFound) {
		return fmt.Errorf("remove %q from the list of hidden accounts: %w", n.User, err)
	}
	return nil
}

// Forget takes away what Windows keeps of an account when it is removed: its profile and its rights.
func Forget(api winapi.Accounts, n Names, user sd.SID) error {
	if user == "" {
		return nil
	}
	if err := api.ProfileDelete(user); err != nil && !errors.Is(err, winapi.ErrFileNotFound) {
		return fmt.Errorf("remove the profile of %q: %w", n.User, err)
	}
	return clearRights(api, n, IDs{User: user})
}

// Lookup asks Windows for the identifiers.
func Lookup(api winapi.Accounts, n Names) (IDs, error) {
	var ids IDs
	var err error
	if ids.User, err = api.LookupSID(n.User); err != nil {
		return ids, fmt.Errorf("look up account %q: %w", n.User, err)
	}
	if ids.Group, err = api.LookupSID(n.Group); err != nil {
		return ids, fmt.Errorf("look up group %q: %w", n.Group, err)
	}
	return ids, nil
}

// Drift lists how account and group differ from the tables. Logon rights are compared only where they may be read: an ordinary user
// may not, and then rightsKnown is false.
func Drift(api winapi.Accounts, n Names, enabled bool) (out []string, rightsKnown bool, err error) {
	u, err := api.UserGet(n.User)
	if errors.Is(err, winapi.ErrUserNotFound) {
		return []string{fmt.Sprintf("account %q is gone", n.User)}, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read account %q: %w", n.User, err)
	}
	members, err := api.GroupMembers(n.Group)
	if errors.Is(err, winapi.ErrNoSuchAlias) || errors.Is(err, winapi.ErrGroupNotFound) {
		return []string{fmt.Sprintf("group %q is gone", n.Group)}, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read group %q: %w", n.Group, err)
	}
	ids, err := Lookup(api, n)
	if err != nil {
		return nil, false, err
	}
	groups, err := ForeignGroups(api, n.User, ids)
	if err != nil {
		return nil, false, err
	}
	rights, err := api.Rights(ids.User)
	rightsKnown = err == nil
	if err != nil && !errors.Is(err, winapi.ErrAccessDenied) {
		return nil, false, fmt.Errorf("read the logon rights of %q: %w", n.User, err)
	}
	var shared []string
	if rightsKnown {
		if shared, err = api.Rights(ids.Group); err != nil {
			return nil, false, fmt.Errorf("read the rights of the group %q: %w", n.Group, err)
		}
	}
	out = drift(u, slices.Contains(members, ids.User), groups, n.Group, rights, rightsKnown, enabled)
	for _, r := range shared {
		out = append(out, fmt.Sprintf("group %q has %s, which srt did not give", n.Group, r))
	}
	for _, m := range members {
		if m != ids.User {
			out = append(out, fmt.Sprintf("group %q has the member %s, which srt did not add", n.Group, m))
		}
	}
	return out, rightsKnown, nil
}

func checkDrift(api winapi.System, n Names, enabled bool) error {
	out, known, err := Drift(api, n, enabled)
	switch {
	case err != nil:
		return err
	case len(out) > 0:
		return fmt.Errorf("read back what was set: %s", out[0])
	case !known:
		return errors.New("read back what was set: the logon rights may not be read")
	}
	return nil
}
