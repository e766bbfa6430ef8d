package setup

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/wfp"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Options are the words of install.
type Options struct {
	User      string // "": limits.User
	Low, High int    // 0: the usual range
	Loopback  bool
	Sublayer  winapi.GUID // "": srt's own
	Force     bool        // change an installation that has other settings, adopt an account of that name
	For       sd.SID      // who may run commands; "": whoever runs install
	Random    io.Reader
	Tell      func(string) // hears what was put back in line; may be nil
}

func (o *Options) fill(api winapi.Self) error {
	if o.User == "" {
		o.User = limits.User
	}
	if o.Low == 0 && o.High == 0 {
		o.Low, o.High = limits.ProxyPortLow, limits.ProxyPortHigh
	}
	if o.Sublayer == "" {
		o.Sublayer = limits.Sublayer
	}
	for _, err := range []error{account.CheckName(o.User), notTheGroup(o.User), wfp.CheckRange(o.Low, o.High), wfp.CheckGUID(o.Sublayer)} {
		if err != nil {
			return &problem.Error{Code: problem.Usage, Op: "install", Err: err, Fix: "srt-windows install --help"}
		}
	}
	if o.For == "" {
		self, err := api.UserSID()
		if err != nil {
			return fmt.Errorf("find out who installs: %w", err)
		}
		o.For = self
	}
	if _, err := sd.ParseSID(string(o.For)); err != nil {
		return &problem.Error{Code: problem.Usage, Op: "install", Err: err}
	}
	none := strings.HasPrefix(string(o.For), "S-1-5-21-") && strings.HasSuffix(string(o.For), "-"+strconv.Itoa(limits.NoGroup)) // of this machine, or every user of a domain
	if slices.Contains(limits.AccountGroups, o.For) || o.For == sd.Anonymous || none {
		return &problem.Error{Code: problem.Usage, Op: "install", Path: string(o.For), Detail: "the sandbox account is in this group, so commands could read its password", Fix: "name one user"}
	}
	elevated, err := api.Elevated()
	if err != nil {
		return fmt.Errorf("find out whether this process is elevated: %w", err)
	}
	if !elevated {
		return &problem.Error{Code: problem.NotElevated, Op: "install", Detail: "an administrator is needed", Fix: "run it again and agree when Windows asks, or use an elevated prompt"}
	}
	return nil
}

// Install makes everything, or brings what is there in line. It may be repeated at any time; the password is new each time.
func Install(api winapi.System, o Options) error {
	if err := o.fill(api); err != nil {
		return err
	}
	old, found, err := believed(api)
	if err != nil && o.Force && unbelieved(err) {
		found = false
		old, err = madeBySrt(api)
	}
	if err != nil {
		return err
	}
	want := Record{Setup: limits.Version, State: StateInstalling, User: o.User, Group: limits.Group, Low: o.Low, High: o.High,
		Loopback: o.Loopback, Sublayer: o.Sublayer, Users: account.SortedUsers(append(old.Users, o.For))}
	if found {
		if diff := differences(old, want); len(diff) > 0 && old.State == StateReady && !o.Force {
			return &problem.Error{Code: problem.Differs, Op: "install", Detail: "it is installed with other settings: " + strings.Join(diff, ", "),
				Fix: "add --force to change them, or leave the options out"}
		}
	}
	if err := want.claim(api, old, o); err != nil {
		return err
	}
	repaired := seen(api)
	// From here on srt's mark is on the machine, so that whatever is made can be told from what was there.
	if err := api.KeyCreate(limits.StateKey, account.KeySecurity(want.Users)); err != nil {
		return fmt.Errorf("make the registry key: %w", err)
	}
	if err := want.replace(api, old); err != nil {
		return err
	}
	want.RunFolder = old.RunFolder
	if err := want.save(api); err != nil {
		return err
	}
	if err := want.make(api, o.Random); err != nil {
		return err
	}
	if o.Tell != nil {
		for _, r := range repaired {
			o.Tell(r)
		}
	}
	return nil
}

// replace takes away what the new installation does not go on with. Until it is gone the record knows of it.
func (r *Record) replace(api winapi.System, old Record) error {
	switch {
	case old.User == "":
		return nil
	case strings.EqualFold(old.User, r.User):
		if old.UserSID == r.UserSID {
			return nil
		}
		return account.Forget(api, old.names(), old.UserSID) // somebody removed the account
	}
	old.Setup, old.State = limits.Version, StateInstalling
	if err := old.save(api); err != nil {
		return err
	}
	return removeAccount(api, old)
}

// madeBySrt is what can be told of an installation whose record is no use.
func madeBySrt(api winapi.System) (Record, error) {
	rec, err := usual(api)
	if err != nil {
		return rec, err
	}
	u, err := api.UserGet(rec.User)
	switch {
	case errors.Is(err, winapi.ErrUserNotFound) || err == nil && u.Comment != limits.UserComment:
		rec.User = ""
	case err != nil:
		return rec, fmt.Errorf("read account %q: %w", rec.User, err)
	}
	return rec, nil
}

// seen is what status finds wrong. That it cannot look is no reason not to install.
func seen(api winapi.System) []string {
	r, err := Status(api)
	if err != nil {
		return nil
	}
	var out []string
	for _, i := range r.Items {
		if i.State == wire.CheckFail {
			out = append(out, i.Name+": "+i.Detail)
		}
	}
	return out
}

// make is the second half: everything but the record is brought in line with it.
func (r *Record) make(api winapi.System, random io.Reader) error {
	password, err := account.NewPassword(random)
	if err != nil {
		return err
	}
	sealed, err := api.Protect([]byte(password), []byte(limits.Entropy))
	if err != nil {
		return fmt.Errorf("seal the password: %w", err)
	}
	ids, err := account.Ensure(api, r.names(), password)
	if err != nil {
		return err
	}
	r.UserSID, r.GroupSID = ids.User, ids.Group
	if slices.Contains(r.Users, ids.User) {
		return itself(r.User)
	}
	if err := r.save(api); err != nil {
		return err
	}
	fence, err := r.Fence()
	if err != nil {
		return err
	}
	if err := wfp.Apply(api, fence); err != nil {
		return err
	}
	if err := r.makeRunFolder(api); err != nil {
		return err
	}
	if err := api.ValueSet(limits.StateKey, passwordValue, winapi.Value{Kind: winapi.KindBinary, Binary: sealed}); err != nil {
		return fmt.Errorf("store the sealed password: %w", err)
	}
	if back, err := Password(api); err != nil || back != password {
		return errors.Join(errors.New("read the sealed password back: it is not what was stored"), err)
	}
	if err := account.Enable(api, r.names()); err != nil {
		return err
	}
	r.State = StateReady
	return r.save(api)
}

func differences(old, want Record) []string {
	var out []string
	add := func(what string, a, b any) {
		if a != b {
			out = append(out, fmt.Sprintf("%s %v (asked for %v)", what, a, b))
		}
	}
	add("account", old.User, want.User)
	add("proxy ports", fmt.Sprintf("%d-%d", old.Low, old.High), fmt.Sprintf("%d-%d", want.Low, want.High))
	add("loopback open", old.Loopback, want.Loopback)
	add("sublayer", old.Sublayer, want.Sublayer)
	return out
}
