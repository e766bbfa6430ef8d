package setup

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

func TestDriftIsSeenAndRepaired(t *testing.T) {
	sid := func(w *fake.Windows) sd.SID { s, _ := w.LookupSID(limits.User); return s }
	for name, c := range map[string]struct {
		do    func(w *fake.Windows) error
		text  string
		force bool // without it install refuses
	}{
		"a filter removed": {func(w *fake.Windows) error {
			w.Tamper(func(f map[winapi.GUID]winapi.Filter) { delete(f, "ba84c8f1-b003-43db-a01d-3486be4fcf64") })
			return nil
		}, `check fence: filter "srt block v4" is missing`, false},
		"a filter weakened": {func(w *fake.Windows) error {
			w.Tamper(func(f map[winapi.GUID]winapi.Filter) {
				x := f["ba84c8f1-b003-43db-a01d-3486be4fcf64"]
				x.Hard = false
				f[x.Key] = x
			})
			return nil
		}, `check fence: filter "srt block v4" was changed`, false},
		"a filter added under srt's name": {func(w *fake.Windows) error {
			w.Tamper(func(f map[winapi.GUID]winapi.Filter) {
				f["1"] = winapi.Filter{Key: "1", Name: "let out", Provider: limits.Provider, Sublayer: limits.Sublayer, Action: winapi.ActionPermit, Weight: 99}
			})
			return nil
		}, `check fence: filter "let out" (1) is not part of the fence`, false},
		"a filter that is not applied": {func(w *fake.Windows) error {
			w.Tamper(func(f map[winapi.GUID]winapi.Filter) {
				x := f["ba84c8f1-b003-43db-a01d-3486be4fcf64"]
				x.Off = true
				f[x.Key] = x
			})
			return nil
		}, `check fence: filter "srt block v4" was changed`, false},
		"somebody's filter in srt's sublayer": {func(w *fake.Windows) error {
			w.TamperOwners(func(p map[winapi.GUID]winapi.Provider, _ map[winapi.GUID]winapi.Sublayer) {
				p["2"] = winapi.Provider{Key: "2"}
			})
			w.Tamper(func(f map[winapi.GUID]winapi.Filter) {
				f["3"] = winapi.Filter{Key: "3", Name: "theirs", Provider: "2", Sublayer: limits.Sublayer, Action: winapi.ActionPermit, Weight: 99}
				f["4"] = winapi.Filter{Key: "4", Name: "nobody's", Sublayer: limits.Sublayer, Action: winapi.ActionPermit, Weight: 99}
			})
			return nil
		}, `check fence: filter "theirs" (3) is not part of the fence`, false},
		"a filter in another sublayer": {func(w *fake.Windows) error {
			w.TamperOwners(func(_ map[winapi.GUID]winapi.Provider, s map[winapi.GUID]winapi.Sublayer) {
				s["5"] = winapi.Sublayer{Key: "5", Provider: limits.Provider, Name: "weak"}
			})
			w.Tamper(func(f map[winapi.GUID]winapi.Filter) {
				x := f["ba84c8f1-b003-43db-a01d-3486be4fcf64"]
				x.Sublayer = "5"
				f[x.Key] = x
			})
			return nil
		}, `check fence: sublayer "weak" (5) is not part of the fence`, false},
		"the provider missing": {func(w *fake.Windows) error {
			w.TamperOwners(func(p map[winapi.GUID]winapi.Provider, _ map[winapi.GUID]winapi.Sublayer) { delete(p, limits.Provider) })
			return nil
		}, `check fence: provider "srt" is missing`, false},
		"the provider tied to a service": {ofProvider(func(p *winapi.Provider) { p.Off = true }),
			`check fence: the provider was changed: it is 9c5e2afe-d077-470f-aff2-0dd168369d9e persistent=true off=true, not 9c5e2afe-d077-470f-aff2-0dd168369d9e persistent=true off=false`, false},
		"the provider gone at the next start": {ofProvider(func(p *winapi.Provider) { p.Persistent = false }),
			`check fence: the provider was changed: it is 9c5e2afe-d077-470f-aff2-0dd168369d9e persistent=false off=false, not 9c5e2afe-d077-470f-aff2-0dd168369d9e persistent=true off=false`, false},
		"the sublayer missing": {func(w *fake.Windows) error {
			w.TamperOwners(func(_ map[winapi.GUID]winapi.Provider, s map[winapi.GUID]winapi.Sublayer) { delete(s, limits.Sublayer) })
			return nil
		}, `check fence: sublayer "srt sandbox" is missing`, false},
		"the sublayer of less weight": {ofSublayer(func(s *winapi.Sublayer) { s.Weight = 1 }), `check fence: the sublayer was changed: it is ` +
			`6c3ce732-08c8-4a59-873c-0b14920faa77 of provider 9c5e2afe-d077-470f-aff2-0dd168369d9e weight=1 persistent=true, not ` + sublayerText, false},
		"the sublayer gone at the next start": {ofSublayer(func(s *winapi.Sublayer) { s.Persistent = false }), `check fence: the sublayer was changed: it is ` +
			`6c3ce732-08c8-4a59-873c-0b14920faa77 of provider 9c5e2afe-d077-470f-aff2-0dd168369d9e weight=65535 persistent=false, not ` + sublayerText, false},
		"the sublayer somebody else's": {ofSublayer(func(s *winapi.Sublayer) { s.Provider = "2" }),
			`check fence: the sublayer was changed: it is 6c3ce732-08c8-4a59-873c-0b14920faa77 of provider 2 weight=65535 persistent=true, not ` + sublayerText, false},
		"the account made an administrator": {func(w *fake.Windows) error { return w.GroupAddMember("Administrators", sid(w)) },
			`check account: account "srt-sandbox" is a member of the group S-1-5-32-544, which srt did not do`, false},
		"somebody in srt's group": {func(w *fake.Windows) error { return w.GroupAddMember(limits.Group, fake.Bob) },
			`check account: group "srt-sandbox-users" has the member S-1-5-21-100-200-300-1002, which srt did not add`, false},
		"a right for srt's group": {func(w *fake.Windows) error {
			g, _ := w.LookupSID(limits.Group)
			return w.RightsAdd(g, []string{"SeBackupPrivilege"})
		},
			`check account: group "srt-sandbox-users" has SeBackupPrivilege, which srt did not give`, false},
		"a right added":        {func(w *fake.Windows) error { return w.RightsAdd(sid(w), []string{"SeBatchLogonRight"}) }, `check account: account "srt-sandbox" has SeBatchLogonRight, which srt did not give`, false},
		"a denial taken away":  {func(w *fake.Windows) error { return w.RightsRemoveAll(sid(w)) }, `check account: account "srt-sandbox" lacks SeInteractiveLogonRight`, false},
		"the account disabled": {func(w *fake.Windows) error { return w.UserSetFlags(limits.User, limits.AccountFlagsFenceless) }, `check account: account "srt-sandbox" has the flags 0x10243 instead of 0x10241`, false},
		"the account gone":     {func(w *fake.Windows) error { return w.UserDel(limits.User) }, `check account: account "srt-sandbox" is gone`, false},
		"the key opened to all": {func(w *fake.Windows) error {
			return w.KeyCreate(limits.StateKey, account.KeySecurity([]sd.SID{fake.Alice, sd.Everyone}))
		}, "check registry key: the sandbox account can read its own password through S-1-1-0", false},
		"the key opened to every local account": {func(w *fake.Windows) error {
			return w.KeyCreate(limits.StateKey, account.KeySecurity([]sd.SID{fake.Alice, fake.Machine + "-513"}))
		}, "check registry key: the sandbox account can read its own password through S-1-5-21-100-200-300-513", false},
		"another reader of the key": {func(w *fake.Windows) error {
			return w.KeyCreate(limits.StateKey, account.KeySecurity([]sd.SID{fake.Alice, fake.Bob}))
		}, "check registry key: S-1-5-21-100-200-300-1002 can read the account's password, and srt did not let it in", false},
		"a reader of the key shut out": {func(w *fake.Windows) error {
			d := account.KeySecurity([]sd.SID{fake.Alice})
			d.DACL = append([]sd.ACE{{Kind: sd.Deny, Mask: 2, SID: fake.Bob}}, d.DACL...)
			return w.KeyCreate(limits.StateKey, d)
		}, "check registry key: the access list of srt's registry key was changed", false},
		"the key opened for writing": {func(w *fake.Windows) error {
			d := account.KeySecurity([]sd.SID{fake.Alice})
			d.DACL = append(d.DACL, sd.ACE{Mask: limits.KeyAll, SID: fake.Bob})
			return w.KeyCreate(limits.StateKey, d)
		}, "check registry key: S-1-5-21-100-200-300-1002 can write into srt's registry key, so nothing in it is believed", true},
		"the key given to somebody": {func(w *fake.Windows) error {
			d := account.KeySecurity([]sd.SID{fake.Alice})
			d.Owner = fake.Bob
			return w.KeyCreate(limits.StateKey, d)
		}, "check registry key: S-1-5-21-100-200-300-1002, its owner, can write into srt's registry key, so nothing in it is believed", true},
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
			var told []string
			o := opts()
			o.Tell = func(s string) { told = append(told, s) }
			if c.force {
				if err := Install(w, o); problem.Of(err) != problem.Drift || problem.Fix(err) == "" {
					t.Fatalf("not refused: %v", err)
				}
				if _, err := Ready(w); problem.Of(err) != problem.Drift {
					t.Fatalf("a command: %v", err)
				}
				o.Force = true
			}
			if err := Install(w, o); err != nil {
				t.Fatalf("repair: %v", err)
			}
			if r, err := Status(w); err != nil || r.Err() != nil {
				t.Fatalf("after the repair: %v %v", r.Err(), err)
			}
			if !slices.Contains(told, strings.TrimPrefix(c.text, "check ")) {
				t.Errorf("told of %q", told)
			}
			if err := Uninstall(w, false); err != nil {
				t.Fatal(err)
			}
			nothingLeft(t, w)
		})
	}
}

const sublayerText = "6c3ce732-08c8-4a59-873c-0b14920faa77 of provider 9c5e2afe-d077-470f-aff2-0dd168369d9e weight=65535 persistent=true"

func ofProvider(change func(*winapi.Provider)) func(*fake.Windows) error {
	return func(w *fake.Windows) error {
		w.TamperOwners(func(all map[winapi.GUID]winapi.Provider, _ map[winapi.GUID]winapi.Sublayer) {
			p := all[limits.Provider]
			change(&p)
			all[limits.Provider] = p
		})
		return nil
	}
}

func ofSublayer(change func(*winapi.Sublayer)) func(*fake.Windows) error {
	return func(w *fake.Windows) error {
		w.TamperOwners(func(_ map[winapi.GUID]winapi.Provider, all map[winapi.GUID]winapi.Sublayer) {
			s := all[limits.Sublayer]
			change(&s)
			all[limits.Sublayer] = s
		})
		return nil
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

// TestPowerfulAccount: what the account could do for a while ends with it.
func TestPowerfulAccount(t *testing.T) {
	w := busy(t)
	sid, _ := w.LookupSID(limits.User)
	if err := w.GroupAddMember("Administrators", sid); err != nil {
		t.Fatal(err)
	}
	err := Install(w, opts())
	if want := `install "srt-sandbox": it is in the group S-1-5-32-544, which srt did not do, and 2 processes may have that group's rights`; problem.Of(err) != problem.Running || err.Error() != want {
		t.Fatalf("got %v", err)
	}
	if u, _ := w.UserGet(limits.User); u.Flags&limits.FlagDisabled != 0 {
		t.Error("a refusal changed the account")
	}
	o := opts()
	o.Force = true
	if err := Install(w, o); err != nil {
		t.Fatal(err)
	}
	if left, err := w.ProcessesOf(sid); err != nil || len(left) > 0 {
		t.Errorf("still running: %v, %v", left, err)
	}
	if groups, err := w.GroupsOf(limits.User); err != nil || slices.Contains(groups, sd.Administrators) {
		t.Errorf("groups %v, %v", groups, err)
	}
}

// TestPowerfulThroughAnotherGroup: srt changes its own account, not who else is an administrator.
func TestPowerfulThroughAnotherGroup(t *testing.T) {
	w := installed(t)
	if err := w.GroupAddMember("Administrators", sd.AuthenticatedUsers); err != nil {
		t.Fatal(err)
	}
	err := Install(w, opts())
	if want := `confine the account "srt-sandbox": it is in the group S-1-5-32-544 through another group, which is not srt's to change`; problem.Of(err) != problem.Drift || err.Error() != want || problem.Fix(err) == "" {
		t.Fatalf("got %v", err)
	}
	if _, err := Ready(w); problem.Of(err) != problem.Incomplete {
		t.Errorf("a command: %v", err)
	}
	fenced(t, w)
}

// TestForgedRecord: what others could write into the key must not choose what an administrator removes.
func TestForgedRecord(t *testing.T) {
	w := installed(t)
	rec, _, err := Load(w)
	if err != nil {
		t.Fatal(err)
	}
	rec.RunFolder, rec.User = `C:\Users\alice`, "alice"
	d := account.KeySecurity([]sd.SID{fake.Alice})
	d.DACL = append(d.DACL, sd.ACE{Mask: 2, SID: fake.Bob})
	if err := errors.Join(rec.save(w), w.KeyCreate(limits.StateKey, d)); err != nil {
		t.Fatal(err)
	}
	before := w.Lists()
	if err := Uninstall(w, false); problem.Of(err) != problem.Drift {
		t.Fatalf("not refused: %v", err)
	}
	if got := w.Lists(); !maps.Equal(got, before) {
		t.Error("a refusal changed files")
	}
	if err := Uninstall(w, true); err != nil {
		t.Fatal(err)
	}
	if _, err := w.UserGet("alice"); err != nil {
		t.Errorf("alice: %v", err)
	}
	nothingLeft(t, w)
}

// TestDamagedRecord: with force the usual names are removed, and a run folder that is somebody else's stays.
func TestDamagedRecord(t *testing.T) {
	w := installed(t)
	if err := w.ValueSet(limits.StateKey, recordValue, winapi.Value{Kind: winapi.KindString, String: "{"}); err != nil {
		t.Fatal(err)
	}
	if err := Uninstall(w, false); problem.Of(err) != problem.Incomplete {
		t.Fatalf("not refused: %v", err)
	}
	w.Remove(`C:\ProgramData\srt-run`)
	w.Own(`C:\ProgramData\srt-run`, fake.Bob, sd.ACE{Mask: sd.MaskAll, SID: fake.Bob}, sd.ACE{Mask: sd.MaskAll, SID: sd.Administrators})
	if err := Uninstall(w, true); err != nil {
		t.Fatal(err)
	}
	w.Remove(`C:\ProgramData\srt-run`) // bob's
	nothingLeft(t, w)
}

// TestUnbelievedRecordUnderAnotherName: an account that the record no longer tells of must not be left without its fence.
func TestUnbelievedRecordUnderAnotherName(t *testing.T) {
	w := installed(t)
	if err := w.ValueSet(limits.StateKey, recordValue, winapi.Value{Kind: winapi.KindString, String: "{"}); err != nil {
		t.Fatal(err)
	}
	if err := Install(w, forced("box")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.UserGet(limits.User); !errors.Is(err, winapi.ErrUserNotFound) {
		t.Errorf("the old account: %v", err)
	}
	if err := Uninstall(w, false); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, w)
}
