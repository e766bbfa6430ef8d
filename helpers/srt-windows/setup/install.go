package setup

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/wfp"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
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
	for _, err := range []error{account.CheckName(o.User), wfp.CheckRange(o.Low, o.High), wfp.CheckGUID(o.Sublayer)} {
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
	old, found, err := Load(api)
	if err != nil && !o.Force {
		return err
	}
	want := Record{Setup: limits.Version, State: StateInstalling, User: o.User, Group: limits.Group, Low: o.Low, High: o.High,
		Loopback: o.Loopback, Sublayer: o.Sublayer, OldFences: []string{}}
	if found && err == nil {
		if diff := differences(old, want); len(diff) > 0 && old.State == StateReady && !o.Force {
			return &problem.Error{Code: problem.Differs, Op: "install", Detail: "it is installed with other settings: " + strings.Join(diff, ", "),
				Fix: "add --force to change them, or leave the options out"}
		}
	} else if err := refuseForeign(api, want, o.Force); err != nil {
		return err
	}
	// From here on srt's mark is on the machine, so that whatever is made can be told from what was there.
	users, err := allowed(api, o.For)
	if err != nil {
		return err
	}
	if err := api.KeyCreate(limits.StateKey, account.KeySecurity(users)); err != nil {
		return fmt.Errorf("make the registry key: %w", err)
	}
	want.inherit(old)
	if err := want.save(api); err != nil {
		return err
	}
	if found && old.User != "" && old.User != want.User {
		if err := removeAccount(api, old); err != nil {
			return err
		}
	}
	return want.make(api, users, o.Random)
}

// make is the second half: everything but the record is brought in line with it.
func (r *Record) make(api winapi.System, users []sd.SID, random io.Reader) error {
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
	if slices.Contains(users, ids.User) {
		return &problem.Error{Code: problem.Usage, Op: "install", Path: r.User, Detail: "the sandbox account itself must not run commands", Fix: "install as the user who will"}
	}
	if err := r.save(api); err != nil {
		return err
	}
	fence, err := r.Fence()
	if err != nil {
		return err
	}
	if err := wfp.Apply(api, fence, r.sublayers()...); err != nil {
		return err
	}
	if err := r.makeRunFolder(api, users); err != nil {
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
	r.State, r.OldFences = StateReady, []string{}
	return r.save(api)
}

// makeRunFolder makes the folder for the commands' own folders. An earlier one, or one that somebody else put there, is taken over:
// only its list matters, and what lies in it is nobody's project.
func (r *Record) makeRunFolder(api winapi.System, users []sd.SID) error {
	if r.RunFolder == "" {
		base, err := api.ProgramData()
		if err != nil {
			return fmt.Errorf("find the folder for programs' data: %w", err)
		}
		r.RunFolder = winpath.Join(base, limits.RunFolder)
		if err := r.save(api); err != nil {
			return err
		}
	}
	security := account.RunFolderSecurity(users)
	look, err := api.Look(r.RunFolder)
	switch {
	case err != nil:
		return fmt.Errorf("look at %q: %w", r.RunFolder, err)
	case look.Kind != winapi.KindMissing && look.Kind != winapi.KindDir:
		return &problem.Error{Code: problem.Foreign, Op: "make the run folder", Path: r.RunFolder, Detail: "a link or a file has this name", Fix: "remove it"}
	case look.Kind == winapi.KindDir:
		o, err := api.Resolve(r.RunFolder)
		if err != nil {
			return fmt.Errorf("open %q: %w", r.RunFolder, err)
		}
		have, err := api.Security(o)
		if err != nil {
			return fmt.Errorf("read who owns %q: %w", r.RunFolder, err)
		}
		if have.Owner != sd.Administrators && have.Owner != sd.LocalSystem {
			return &problem.Error{Code: problem.Foreign, Op: "make the run folder", Path: r.RunFolder,
				Detail: "a folder of this name belongs to " + string(have.Owner) + ", not to the administrators", Fix: "remove it"}
		}
		if err := api.DirSecurity(r.RunFolder, security); err != nil {
			return fmt.Errorf("set the access list of %q: %w", r.RunFolder, err)
		}
		return nil
	}
	if err := api.MakeDir(r.RunFolder, security); err != nil {
		return fmt.Errorf("make the folder %q: %w", r.RunFolder, err)
	}
	return nil
}

// refuseForeign stops install from taking over an account that somebody else made.
func refuseForeign(api winapi.Accounts, want Record, force bool) error {
	for _, name := range []string{want.User, want.Group} {
		_, err := api.LookupSID(name)
		switch {
		case errors.Is(err, winapi.ErrNoneMapped):
		case err != nil:
			return fmt.Errorf("look up %q: %w", name, err)
		case !force:
			return &problem.Error{Code: problem.Foreign, Op: "install", Path: name, Detail: "an account or group of this name exists and srt did not make it",
				Fix: "choose another with --sandbox-user, or take it over with --force"}
		}
	}
	return nil
}

// allowed is everybody who may run commands so far, and user.
func allowed(api winapi.Registry, user sd.SID) ([]sd.SID, error) {
	d, err := api.KeySecurity(limits.StateKey)
	switch {
	case errors.Is(err, winapi.ErrFileNotFound):
		return []sd.SID{user}, nil
	case err != nil:
		return nil, fmt.Errorf("read who may run commands: %w", err)
	}
	return account.KeyUsers(account.KeySecurity(append(account.KeyUsers(d), user))), nil
}

// inherit carries over what the next steps need to know of an earlier install.
func (r *Record) inherit(old Record) {
	r.RunFolder = old.RunFolder
	for _, s := range append(old.OldFences, string(old.Sublayer)) {
		if s != "" && s != string(r.Sublayer) && !slices.Contains(r.OldFences, s) {
			r.OldFences = append(r.OldFences, s)
		}
	}
	if old.User == r.User {
		r.UserSID, r.GroupSID = old.UserSID, old.GroupSID
	}
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
