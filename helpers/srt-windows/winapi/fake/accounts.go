package fake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

type account struct {
	winapi.User
	sid sd.SID
}

type group struct {
	name, comment string
	sid           sd.SID
	members       []sd.SID
}

// Password is what the account would log on with; tests compare it with what was sealed.
func (w *Windows) Password(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.users[strings.ToLower(name)]; a != nil {
		return a.User.Password
	}
	return ""
}

func (w *Windows) newSID() sd.SID {
	w.nextRID++
	return sd.SID(fmt.Sprintf("%s-%d", Machine, w.nextRID))
}

func (w *Windows) taken(name string) bool {
	return w.users[strings.ToLower(name)] != nil || w.groups[strings.ToLower(name)] != nil
}

// UserAdd implements winapi.Accounts.
func (w *Windows) UserAdd(u winapi.User) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("UserAdd %s", u.Name); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	switch {
	case w.users[strings.ToLower(u.Name)] != nil:
		return winapi.ErrUserExists
	case w.taken(u.Name):
		return winapi.ErrAliasExists
	case u.Name == "" || len(u.Name) > 20 || strings.ContainsAny(u.Name, `"/\[]:;|=,+*?<>@`):
		return winapi.Errno(2202) // NERR_BadUsername
	case len(u.Password) < 8:
		return winapi.Errno(2245) // NERR_PasswordTooShort
	}
	w.users[strings.ToLower(u.Name)] = &account{User: u, sid: w.newSID()}
	return w.done(nil)
}

func (w *Windows) user(name string) (*account, error) {
	a := w.users[strings.ToLower(name)]
	if a == nil {
		return nil, winapi.ErrUserNotFound
	}
	return a, nil
}

// UserGet implements winapi.Accounts.
func (w *Windows) UserGet(name string) (winapi.User, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("UserGet %s", name); err != nil {
		return winapi.User{}, err
	}
	a, err := w.user(name)
	if err != nil {
		return winapi.User{}, err
	}
	u := a.User
	u.Password = ""
	return u, nil
}

// changeUser is the common part of what changes an account.
func (w *Windows) changeUser(what, name string, change func(*account)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("%s %s", what, name); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	a, err := w.user(name)
	if err != nil {
		return err
	}
	change(a)
	return w.done(nil)
}

// UserSetFlags implements winapi.Accounts.
func (w *Windows) UserSetFlags(name string, f uint32) error {
	return w.changeUser("UserSetFlags", name, func(a *account) { a.Flags = f })
}

// UserSetPassword implements winapi.Accounts.
func (w *Windows) UserSetPassword(name, password string) error {
	return w.changeUser("UserSetPassword", name, func(a *account) { a.User.Password = password })
}

// UserDel implements winapi.Accounts. Rights keyed on the SID stay, as they do on Windows.
func (w *Windows) UserDel(name string) error {
	return w.changeUser("UserDel", name, func(a *account) {
		delete(w.users, strings.ToLower(name))
		for _, g := range w.groups {
			g.members = slices.DeleteFunc(g.members, func(s sd.SID) bool { return s == a.sid })
		}
	})
}

// GroupAdd implements winapi.Accounts.
func (w *Windows) GroupAdd(name, comment string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("GroupAdd %s", name); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	if w.taken(name) {
		return winapi.ErrAliasExists
	}
	w.groups[strings.ToLower(name)] = &group{name: name, comment: comment, sid: w.newSID()}
	return w.done(nil)
}

// GroupDel implements winapi.Accounts.
func (w *Windows) GroupDel(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("GroupDel %s", name); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	if w.groups[strings.ToLower(name)] == nil {
		return winapi.ErrGroupNotFound
	}
	delete(w.groups, strings.ToLower(name))
	return w.done(nil)
}

// GroupMembers implements winapi.Accounts.
func (w *Windows) GroupMembers(name string) ([]sd.SID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("GroupMembers %s", name); err != nil {
		return nil, err
	}
	g := w.groups[strings.ToLower(name)]
	if g == nil {
		return nil, winapi.ErrNoSuchAlias
	}
	return slices.Clone(g.members), nil
}

// GroupAddMember implements winapi.Accounts.
func (w *Windows) GroupAddMember(name string, member sd.SID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("GroupAddMember %s %s", name, member); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	g := w.groups[strings.ToLower(name)]
	switch {
	case g == nil:
		return winapi.ErrNoSuchAlias
	case slices.Contains(g.members, member):
		return winapi.ErrMemberInAlias
	}
	g.members = append(g.members, member)
	return w.done(nil)
}

// GroupDelMember implements winapi.Accounts.
func (w *Windows) GroupDelMember(sid, member sd.SID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("GroupDelMember %s %s", sid, member); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	for _, g := range w.groups {
		if g.sid != sid {
			continue
		}
		if !slices.Contains(g.members, member) {
			return winapi.ErrMemberNotInAlias
		}
		g.members = slices.DeleteFunc(g.members, func(s sd.SID) bool { return s == member })
		return w.done(nil)
	}
	return winapi.ErrNoSuchAlias
}

// GroupsOf implements winapi.Accounts.
func (w *Windows) GroupsOf(name string) ([]sd.SID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("GroupsOf %s", name); err != nil {
		return nil, err
	}
	a, err := w.user(name)
	if err != nil {
		return nil, err
	}
	var out []sd.SID
	for _, g := range w.groups {
		if slices.Contains(g.members, a.sid) || slices.Contains(g.members, sd.AuthenticatedUsers) {
			out = append(out, g.sid)
		}
	}
	slices.Sort(out)
	return out, nil
}

// LookupSID implements winapi.Accounts.
func (w *Windows) LookupSID(name string) (sd.SID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("LookupSID %s", name); err != nil {
		return "", err
	}
	if a := w.users[strings.ToLower(name)]; a != nil {
		return a.sid, nil
	}
	if g := w.groups[strings.ToLower(name)]; g != nil {
		return g.sid, nil
	}
	return "", winapi.ErrNoneMapped
}

// Rights implements winapi.Accounts.
func (w *Windows) Rights(sid sd.SID) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("Rights %s", sid); err != nil {
		return nil, err
	}
	if err := w.admin(); err != nil {
		return nil, err
	}
	return slices.Clone(w.rights[sid]), nil
}

// RightsAdd implements winapi.Accounts.
func (w *Windows) RightsAdd(sid sd.SID, rights []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("RightsAdd %s", sid); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	for _, r := range rights {
		if !slices.Contains(w.rights[sid], r) {
			w.rights[sid] = append(w.rights[sid], r)
		}
	}
	return w.done(nil)
}

// RightsRemoveAll implements winapi.Accounts.
func (w *Windows) RightsRemoveAll(sid sd.SID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("RightsRemoveAll %s", sid); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	delete(w.rights, sid)
	return w.done(nil)
}

// LoggedOn makes a profile, as the first logon does.
func (w *Windows) LoggedOn(sid sd.SID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.profiles[sid] = true
}

// ProfileDelete implements winapi.Accounts.
func (w *Windows) ProfileDelete(sid sd.SID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("ProfileDelete %s", sid); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	if !w.profiles[sid] {
		return winapi.ErrFileNotFound
	}
	delete(w.profiles, sid)
	return w.done(nil)
}
