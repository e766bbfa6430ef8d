package setup

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/wfp"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

func opts() Options { return Options{Random: rand.Reader} }

// forced are the options of an install with --force, under another name when there is one.
func forced(user string) Options { return Options{Random: rand.Reader, Force: true, User: user} }

// theirs is a machine on which somebody made the account.
func theirs(t *testing.T, groups ...string) *fake.Windows {
	w := elevated()
	if err := w.UserAdd(winapi.User{Name: limits.User, Password: "12345678"}); err != nil {
		t.Fatal(err)
	}
	sid, _ := w.LookupSID(limits.User)
	for _, g := range groups {
		if err := w.GroupAddMember(g, sid); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func powerful(t *testing.T) *fake.Windows {
	w := busy(t)
	sid, err := w.LookupSID(limits.User)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.GroupAddMember("Administrators", sid); err != nil {
		t.Fatal(err)
	}
	return w
}

func elevated() *fake.Windows {
	w := fake.New()
	w.IsElevated = true
	return w
}

func installed(t *testing.T) *fake.Windows {
	t.Helper()
	w := elevated()
	if err := Install(w, opts()); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestInstall(t *testing.T) {
	w := installed(t)
	r, err := Status(w)
	if err != nil || r.Err() != nil {
		t.Fatalf("%v, %v", err, r.Err())
	}
	want := `{"installed":true,"state":"ready","user":"srt-sandbox","userSid":"S-1-5-21-100-200-300-1012","proxyPortLow":60080,"proxyPortHigh":60089,` +
		`"allowLoopback":false,"sublayer":"6c3ce732-08c8-4a59-873c-0b14920faa77","allowedUsers":["S-1-5-21-100-200-300-1001"],"items":[` +
		`{"name":"account","state":"PASS","detail":"as installed","fix":""},{"name":"registry key","state":"PASS","detail":"as installed","fix":""},` +
		`{"name":"password","state":"PASS","detail":"as installed","fix":""},{"name":"fence","state":"PASS","detail":"as installed","fix":""}]}`
	if got, _ := json.Marshal(r); string(got) != want {
		t.Errorf("status\ngot  %s\nwant %s", got, want)
	}
	first := w.Password(limits.User)
	if back, err := Password(w); err != nil || back != first {
		t.Errorf("the sealed password is %q (%v), the account's is %q", back, err, first)
	}
	if err := Install(w, opts()); err != nil {
		t.Fatalf("again: %v", err)
	}
	if w.Password(limits.User) == first {
		t.Error("the second install kept the password")
	}
	if r, err := Status(w); err != nil || r.Err() != nil {
		t.Fatalf("after the second install: %v, %v", err, r.Err())
	}
	if err := Uninstall(w, false); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, w)
}

// nothingLeft compares the machine with a fresh one.
func nothingLeft(t *testing.T, w *fake.Windows) {
	t.Helper()
	w.IsElevated = true
	for _, name := range []string{limits.User, limits.Group, "box"} {
		if _, err := w.LookupSID(name); !errors.Is(err, winapi.ErrNoneMapped) {
			t.Errorf("%s is still there (%v)", name, err)
		}
	}
	if _, err := w.KeySecurity(limits.StateKey); !errors.Is(err, winapi.ErrFileNotFound) {
		t.Errorf("the registry key is still there (%v)", err)
	}
	if _, err := w.ValueGet(limits.HiddenKey, limits.User); !errors.Is(err, winapi.ErrFileNotFound) {
		t.Errorf("the hidden entry is still there (%v)", err)
	}
	for rid := 1011; rid < 1030; rid++ {
		if rights, err := w.Rights(sd.SID(fmt.Sprintf("%s-%d", fake.Machine, rid))); err != nil || len(rights) > 0 {
			t.Errorf("rights of %d are still there: %v %v", rid, rights, err)
		}
		if err := w.ProfileDelete(sd.SID(fmt.Sprintf("%s-%d", fake.Machine, rid))); !errors.Is(err, winapi.ErrFileNotFound) {
			t.Errorf("the profile of %d is still there (%v)", rid, err)
		}
	}
	fw, err := w.FirewallOpen()
	if err != nil {
		t.Fatal(err)
	}
	defer fw.Close()
	if f, err := fw.Filters(func(winapi.GUID, winapi.GUID) bool { return true }); err != nil || len(f) > 0 {
		t.Errorf("filters are still there: %v %v", f, err)
	}
	if _, err := fw.ProviderGet(limits.Provider); !errors.Is(err, winapi.ErrProviderUnknown) {
		t.Errorf("the provider is still there (%v)", err)
	}
	if s, err := fw.Sublayers(); err != nil || len(s) > 0 {
		t.Errorf("sublayers are still there: %v %v", s, err)
	}
	if got := w.Lists(); !maps.Equal(got, fake.New().Lists()) {
		t.Errorf("files or their lists differ: %v", got)
	}
}

// fenced is what must hold at every moment: an account that can log on stands behind the whole fence.
func fenced(t *testing.T, w *fake.Windows) {
	t.Helper()
	w.IsElevated = true
	u, err := w.UserGet(limits.User)
	if errors.Is(err, winapi.ErrUserNotFound) || err == nil && u.Flags&limits.FlagDisabled != 0 {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	sid, err := w.LookupSID(limits.User)
	if err != nil {
		t.Fatal(err)
	}
	set, err := wfp.Plan(wfp.Spec{Account: sid, Low: limits.ProxyPortLow, High: limits.ProxyPortHigh})
	if err != nil {
		t.Fatal(err)
	}
	if drift, err := wfp.Drift(w, set); err != nil || len(drift) > 0 {
		t.Fatalf("the account can log on and the fence is not whole: %v %v", drift, err)
	}
}

// TestEveryFailure lets each call of each verb fail in turn, once and for good, before and after its effect.
func TestEveryFailure(t *testing.T) {
	start := map[string]struct {
		machine func(t *testing.T) *fake.Windows
		run     func(w *fake.Windows) error
	}{
		"install on a fresh machine":      {func(*testing.T) *fake.Windows { return elevated() }, func(w *fake.Windows) error { return Install(w, opts()) }},
		"install again":                   {installed, func(w *fake.Windows) error { return Install(w, opts()) }},
		"install over a damaged one":      {damaged, func(w *fake.Windows) error { return Install(w, opts()) }},
		"install over a powerful account": {powerful, func(w *fake.Windows) error { return Install(w, forced("")) }},
		"install where the account is gone": {func(t *testing.T) *fake.Windows {
			w := installed(t)
			if err := w.UserDel(limits.User); err != nil {
				t.Fatal(err)
			}
			return w
		}, func(w *fake.Windows) error { return Install(w, opts()) }},
		"install under another name":      {installed, func(w *fake.Windows) error { return Install(w, forced("box")) }},
		"uninstall":                       {installed, func(w *fake.Windows) error { return Uninstall(w, false) }},
		"uninstall with commands running": {busy, func(w *fake.Windows) error { return Uninstall(w, true) }},
	}
	for name, c := range start {
		for _, mode := range []struct {
			name       string
			die, after bool
		}{{"fails once", false, false}, {"fails once after its effect", false, true}, {"dies", true, false}, {"dies after its effect", true, true}} {
			t.Run(name+", call "+mode.name, func(t *testing.T) {
				for n := 1; n < 200; n++ {
					w := c.machine(t)
					w.Calls = nil
					w.FailAt, w.Die, w.AfterEffect = n, mode.die, mode.after
					err := c.run(w)
					reached := len(w.Calls) >= n
					failed := ""
					if reached {
						failed = w.Calls[n-1]
					}
					w.Revive()
					if !reached {
						if err != nil {
							t.Fatalf("no call failed and yet: %v", err)
						}
						return
					}
					fenced(t, w)
					again := opts()
					switch name {
					case "install under another name":
						again = forced("box")
					case "install over a powerful account":
						again = forced("")
					}
					repair(t, w, again, fmt.Sprintf("call %d, %s (%v)", n, failed, err))
				}
				t.Fatal("200 calls and no end")
			})
		}
	}
}

// repair shows both ways out of a state: install makes it whole, uninstall leaves nothing.
func repair(t *testing.T, w *fake.Windows, o Options, what string) {
	t.Helper()
	if err := Install(w, o); err != nil {
		t.Fatalf("after %s: install: %v", what, err)
	}
	if r, err := Status(w); err != nil || r.Err() != nil {
		t.Fatalf("after %s: status: %v, %v", what, err, r.Err())
	}
	if err := Uninstall(w, true); err != nil {
		t.Fatalf("after %s: uninstall: %v", what, err)
	}
	nothingLeft(t, w)
}

func TestUninstallAfterEveryFailure(t *testing.T) {
	for n := 1; n < 200; n++ {
		w := elevated()
		w.FailAt, w.Die = n, true
		_ = Install(w, opts())
		reached := len(w.Calls) >= n
		w.Revive()
		if err := Uninstall(w, false); err != nil {
			t.Fatalf("after a crash at call %d: %v", n, err)
		}
		nothingLeft(t, w)
		if !reached {
			return
		}
	}
	t.Fatal("200 calls and no end")
}

func damaged(t *testing.T) *fake.Windows {
	w := installed(t)
	w.Tamper(func(f map[winapi.GUID]winapi.Filter) {
		for k := range f {
			delete(f, k)
			break
		}
	})
	if err := w.UserSetFlags(limits.User, limits.AccountFlagsFenceless); err != nil { // the premise of fenced: somebody who opens the fence is not srt
		t.Fatal(err)
	}
	return w
}

func busy(t *testing.T) *fake.Windows {
	w := installed(t)
	sid, err := w.LookupSID(limits.User)
	if err != nil {
		t.Fatal(err)
	}
	w.LoggedOn(sid)
	w.Running[500], w.Running[501] = sid, sid
	return w
}

func TestRefusals(t *testing.T) {
	other := opts()
	other.Low, other.High = 61000, 61005
	for name, c := range map[string]struct {
		machine func(t *testing.T) *fake.Windows
		run     func(w *fake.Windows) error
		code    problem.Code
		text    string
	}{
		"install without an administrator": {func(*testing.T) *fake.Windows { return fake.New() }, func(w *fake.Windows) error { return Install(w, opts()) },
			problem.NotElevated, "install: an administrator is needed"},
		"install with other settings": {installed, func(w *fake.Windows) error { return Install(w, other) },
			problem.Differs, "install: it is installed with other settings: proxy ports 60080-60089 (asked for 61000-61005)"},
		"install over somebody's account": {func(t *testing.T) *fake.Windows { return theirs(t) },
			func(w *fake.Windows) error { return Install(w, opts()) }, problem.Foreign, `install "srt-sandbox": an account or group of this name exists and srt did not make it`},
		"install over an administrator's account, forced": {func(t *testing.T) *fake.Windows { return theirs(t, "Administrators") },
			func(w *fake.Windows) error { return Install(w, forced("")) }, problem.Foreign, `install "srt-sandbox": srt did not make this account, and it is in the group S-1-5-32-544: somebody needs it`},
		"install over one's own account, forced": {func(*testing.T) *fake.Windows { return elevated() },
			func(w *fake.Windows) error { return Install(w, forced("alice")) }, problem.Usage, `install "alice": the sandbox account itself must not run commands`},
		"install over the account of who agreed, forced": {func(*testing.T) *fake.Windows { return elevated() },
			func(w *fake.Windows) error { o := forced("alice"); o.For = fake.Bob; return Install(w, o) }, problem.Usage, `install "alice": the sandbox account itself must not run commands`},
		"install over another user's account, forced": {func(t *testing.T) *fake.Windows {
			w := installed(t)
			if err := Install(w, Options{Random: rand.Reader, For: fake.Bob}); err != nil {
				t.Fatal(err)
			}
			return w
		}, func(w *fake.Windows) error { return Install(w, forced("bob")) }, problem.Usage, `install "bob": the sandbox account itself must not run commands`},
		"another's account after an install that was cut short": {func(t *testing.T) *fake.Windows {
			w := elevated()
			w.FailAt, w.Die = 25, true
			_ = Install(w, opts())
			w.Revive()
			if rec, found, err := Load(w); err != nil || !found || rec.State != StateInstalling {
				t.Fatalf("%+v %v %v", rec, found, err)
			}
			return w
		}, func(w *fake.Windows) error { return Install(w, Options{Random: rand.Reader, User: "bob"}) },
			problem.Foreign, `install "bob": an account or group of this name exists and srt did not make it`},
		"the account made anew by somebody": {func(t *testing.T) *fake.Windows {
			w := installed(t)
			if err := errors.Join(w.UserDel(limits.User), w.UserAdd(winapi.User{Name: limits.User, Password: "12345678"})); err != nil {
				t.Fatal(err)
			}
			return w
		}, func(w *fake.Windows) error { return Install(w, opts()) }, problem.Foreign, `install "srt-sandbox": an account or group of this name exists and srt did not make it`},
		"the account called like the group": {func(*testing.T) *fake.Windows { return elevated() },
			func(w *fake.Windows) error { return Install(w, forced("SRT-sandbox-users")) }, problem.Usage, `install: account name "SRT-sandbox-users": srt's group has this name`},
		"the account called like a group of Windows": {func(*testing.T) *fake.Windows { return elevated() },
			func(w *fake.Windows) error { return Install(w, forced("Users")) }, problem.Foreign, `install "Users": an account or group that is built into Windows has this name`},
		"in another product's sublayer, forced": {func(*testing.T) *fake.Windows {
			w := elevated()
			w.TamperOwners(func(_ map[winapi.GUID]winapi.Provider, s map[winapi.GUID]winapi.Sublayer) {
				s["00000000-0000-0000-0000-000000000001"] = winapi.Sublayer{Key: "00000000-0000-0000-0000-000000000001", Provider: "2", Name: "theirs"}
			})
			return w
		}, func(w *fake.Windows) error {
			o := forced("")
			o.Sublayer = "00000000-0000-0000-0000-000000000001"
			return Install(w, o)
		},
			problem.Foreign, `install "00000000-0000-0000-0000-000000000001": this is the sublayer "theirs" of provider 2, whose filters srt would remove`},
		"for every local account": {func(*testing.T) *fake.Windows { return elevated() },
			func(w *fake.Windows) error { o := opts(); o.For = fake.Machine + "-513"; return Install(w, o) }, problem.Usage, `install "S-1-5-21-100-200-300-513": the sandbox account is in this group, so commands could read its password`},
		"for everybody": {func(*testing.T) *fake.Windows { return elevated() },
			func(w *fake.Windows) error { o := opts(); o.For = sd.Everyone; return Install(w, o) }, problem.Usage, `install "S-1-1-0": the sandbox account is in this group, so commands could read its password`},
		"a range of privileged ports": {func(*testing.T) *fake.Windows { return elevated() }, func(w *fake.Windows) error { return Install(w, Options{Low: 80, High: 81}) },
			problem.Usage, "install: proxy port range 80-81: ports must lie in 49152-65535, where no service is assigned one"},
		"a name with a star": {func(*testing.T) *fake.Windows { return elevated() }, func(w *fake.Windows) error { return Install(w, Options{User: "a*"}) },
			problem.Usage, `install: account name "a*": only letters, digits, - and _`},
		"a run folder that a user made": {func(t *testing.T) *fake.Windows {
			w := elevated()
			w.Own(`C:\ProgramData\srt-run`, fake.Bob, sd.ACE{Mask: sd.MaskAll, SID: fake.Bob}, sd.ACE{Mask: sd.MaskAll, SID: sd.Administrators})
			return w
		}, func(w *fake.Windows) error { return Install(w, opts()) }, problem.Foreign,
			`make the run folder "C:\\ProgramData\\srt-run": a folder of this name belongs to S-1-5-21-100-200-300-1002, not to the administrators`},
		"a run folder that is a link": {func(t *testing.T) *fake.Windows {
			w := elevated()
			w.Link(`C:\ProgramData\srt-run`, `C:\Windows`)
			return w
		}, func(w *fake.Windows) error { return Install(w, opts()) }, problem.Foreign, `make the run folder "C:\\ProgramData\\srt-run": a link or a file has this name`},
		"uninstall with commands running": {busy, func(w *fake.Windows) error { return Uninstall(w, false) },
			problem.Running, `uninstall: 2 processes run under the account "srt-sandbox"`},
		"a command before install": {func(*testing.T) *fake.Windows { return fake.New() }, func(w *fake.Windows) error { _, err := Ready(w); return err },
			problem.NotInstalled, "read the installation: the sandbox account is not installed on this machine"},
		"a command of another user": {func(t *testing.T) *fake.Windows {
			w := installed(t)
			w.Caller, w.IsElevated = fake.Bob, false
			return w
		}, func(w *fake.Windows) error { _, err := Ready(w); return err },
			problem.NotAllowed, "read the installation: srt is installed, but not for this user: access denied (Windows error 5)"},
		"the sandbox account itself": {installed, func(w *fake.Windows) error {
			o := opts()
			o.For, _ = w.LookupSID(limits.User)
			return Install(w, o)
		}, problem.Usage, `install "srt-sandbox": the sandbox account itself must not run commands`},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.run(c.machine(t))
			if problem.Of(err) != c.code || err == nil || err.Error() != c.text {
				t.Fatalf("got %s: %v", problem.Of(err), err)
			}
			if c.code != problem.Usage && problem.Fix(err) == "" {
				t.Error("no way out is given")
			}
		})
	}
}
