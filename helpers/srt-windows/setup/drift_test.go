package setup

import (
	"errors"
	"strings"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

func TestDriftIsSeenAndRepaired(t *testing.T) {
	sid := func(w *fake.Windows) sd.SID { s, _ := w.LookupSID(limits.User); return s }
	for name, c := range map[string]struct {
		do   func(w *fake.Windows) error
		text string
	}{
		"a filter removed": {func(w *fake.Windows) error {
			w.Tamper(func(f map[winapi.GUID]winapi.Filter) { delete(f, "ba84c8f1-b003-43db-a01d-3486be4fcf64") })
			return nil
		}, `check fence: filter "srt block v4" is missing`},
		"a filter weakened": {func(w *fake.Windows) error {
			w.Tamper(func(f map[winapi.GUID]winapi.Filter) {
				x := f["ba84c8f1-b003-43db-a01d-3486be4fcf64"]
				x.Hard = false
				f[x.Key] = x
			})
			return nil
		}, `check fence: filter "srt block v4" was changed`},
		"a filter added under srt's name": {func(w *fake.Windows) error {
			w.Tamper(func(f map[winapi.GUID]winapi.Filter) {
				f["1"] = winapi.Filter{Key: "1", Name: "let out", Provider: limits.Provider, Sublayer: limits.Sublayer, Action: winapi.ActionPermit, Weight: 99}
			})
			return nil
		}, `check fence: filter "let out" (1) is not part of the fence`},
		"the account made an administrator": {func(w *fake.Windows) error { return w.GroupAddMember("Administrators", sid(w)) },
			`check account: account "srt-sandbox" is a member of the group S-1-5-32-544, which srt did not do`},
		"a right added":        {func(w *fake.Windows) error { return w.RightsAdd(sid(w), []string{"SeBatchLogonRight"}) }, `check account: account "srt-sandbox" has SeBatchLogonRight, which srt did not give`},
		"a denial taken away":  {func(w *fake.Windows) error { return w.RightsRemoveAll(sid(w)) }, `check account: account "srt-sandbox" lacks SeInteractiveLogonRight`},
		"the account disabled": {func(w *fake.Windows) error { return w.UserSetFlags(limits.User, limits.AccountFlagsFenceless) }, `check account: account "srt-sandbox" has the flags 0x10243 instead of 0x10241`},
		"the account gone":     {func(w *fake.Windows) error { return w.UserDel(limits.User) }, `check account: account "srt-sandbox" is gone`},
		"the key opened to all": {func(w *fake.Windows) error {
			return w.KeyCreate(limits.StateKey, account.KeySecurity([]sd.SID{fake.Alice, sd.Everyone}))
		}, "check registry key: the sandbox account can read its own password through S-1-1-0"},
		"the key's list widened": {func(w *fake.Windows) error {
			d := account.KeySecurity([]sd.SID{fake.Alice})
			d.DACL = append(d.DACL, sd.ACE{Mask: limits.KeyAll, SID: fake.Bob})
			return w.KeyCreate(limits.StateKey, d)
		}, "check registry key: the access list of srt's registry key was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := installed(t)
			if err := c.do(w); err != nil {
				t.Fatal(err)
			}
			r, err := Status(w)
			if err != nil || r.Err() == nil || r.Err().Error() != c.text {
				t.Fatalf("got %v, %v", r.Err(), err)
			}
			if strings.Contains(c.text, "registry key") || strings.Contains(c.text, "administrator") || strings.Contains(c.text, "S-1-5-32-544") {
				return // who was let in stays so until somebody takes it back: install must not decide that
			}
			if err := Install(w, opts()); err != nil {
				t.Fatalf("repair: %v", err)
			}
			if r, err := Status(w); err != nil || r.Err() != nil {
				t.Fatalf("after the repair: %v %v", r.Err(), err)
			}
		})
	}
}

func TestOrdinaryUserIsToldWhatWasNotRead(t *testing.T) {
	w := installed(t)
	w.IsElevated = false
	r, err := Status(w)
	if err != nil || r.Err() != nil {
		t.Fatalf("%v %v", err, r.Err())
	}
	weak := ""
	for _, i := range r.Items {
		if i.State == "WEAK" {
			weak += i.Name + ": " + i.Detail + "\n"
		}
	}
	if want := "account: as installed, but the logon rights may only be read by an administrator\nfence: the filters may only be read by an administrator\n"; weak != want {
		t.Errorf("got %q", weak)
	}
}

func TestForceChangesEverything(t *testing.T) {
	w := installed(t)
	o := opts()
	o.User, o.Low, o.High, o.Loopback, o.Sublayer, o.Force = "box", 61000, 61001, true, "00000000-0000-0000-0000-000000000001", true
	if err := Install(w, o); err != nil {
		t.Fatal(err)
	}
	r, err := Status(w)
	if err != nil || r.Err() != nil || r.User != "box" || r.Low != 61000 || !r.Loopback || r.Sublayer != o.Sublayer {
		t.Fatalf("%+v %v", r, err)
	}
	if _, err := w.LookupSID(limits.User); !errors.Is(err, winapi.ErrNoneMapped) {
		t.Errorf("the old account is still there (%v)", err)
	}
	if err := Uninstall(w, false); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, w)
}

func TestSecondUserIsLetIn(t *testing.T) {
	w := installed(t)
	o := opts()
	o.For = fake.Bob
	if err := Install(w, o); err != nil {
		t.Fatal(err)
	}
	w.Caller, w.IsElevated = fake.Bob, false
	if _, err := Ready(w); err != nil {
		t.Errorf("bob: %v", err)
	}
	w.Caller = fake.Alice
	if _, err := Ready(w); err != nil {
		t.Errorf("alice: %v", err)
	}
}
