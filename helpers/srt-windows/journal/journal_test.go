package journal

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/acl"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

const (
	account sd.SID = fake.Machine + "-1012"
	group   sd.SID = fake.Machine + "-1011"
)

// memory is a Store whose every call can fail.
type memory struct {
	data    []byte
	calls   int
	failAt  int
	dead    bool
	holding bool
}

func (m *memory) step() error {
	m.calls++
	if m.failAt > 0 && m.calls >= m.failAt {
		m.dead = true
		return fake.ErrInjected
	}
	return nil
}

func (m *memory) Lock() (func() error, error) {
	if m.holding {
		return nil, errors.New("locked twice")
	}
	if err := m.step(); err != nil {
		return nil, err
	}
	m.holding = true
	return func() error { m.holding = false; return nil }, nil
}

func (m *memory) Load() ([]byte, error) { return m.data, m.step() }

func (m *memory) Save(b []byte) error {
	if err := m.step(); err != nil {
		return err
	}
	m.data = b
	return nil
}

func machine() *fake.Windows {
	w := fake.New()
	for _, d := range []string{`C:\Users\alice\proj\.git\hooks`, `C:\Users\alice\proj\src`, `C:\Users\alice\other`} {
		w.Mkdir(d)
	}
	w.WriteFile(`C:\Users\alice\proj\secret\key`)
	return w
}

func entries(paths ...string) []wire.PathEntry {
	var out []wire.PathEntry
	for _, p := range paths {
		out = append(out, wire.PathEntry{Path: p, Rule: p})
	}
	return out
}

func plan(t *testing.T, w *fake.Windows, f wire.FilePolicy) []acl.Change {
	t.Helper()
	p, err := acl.Make(w, acl.Request{Files: f, Dir: `C:\Users\alice\proj`, Home: `C:\Users\alice`, Who: acl.Who{Caller: fake.Alice, Account: account, Group: group}})
	if err != nil {
		t.Fatal(err)
	}
	return p.Changes
}

func planned(changes []acl.Change) func() (acl.Plan, error) {
	return func() (acl.Plan, error) { return acl.Plan{Changes: changes}, nil }
}

func usual() wire.FilePolicy {
	return wire.FilePolicy{ScanDepth: 3, AllowWrite: entries(`C:\Users\alice\proj`), DenyRead: entries(`C:\Users\alice\proj\secret`), DenyWrite: entries(`C:\Users\alice\proj\.git\hooks`)}
}

func holder(w *fake.Windows) Holder { return Holder{uint64(w.Pid), uint64(w.Pid) * 10} }

func same(t *testing.T, w *fake.Windows, want map[string]string, what string) {
	t.Helper()
	if got := w.Lists(); !maps.Equal(got, want) {
		for p, l := range got {
			if want[p] != l {
				t.Errorf("%s: %s\n  is  %s\n  was %s", what, p, l, want[p])
			}
		}
		t.FailNow()
	}
}

func TestAcquireAndRelease(t *testing.T) {
	w, store := machine(), &memory{}
	before := w.Lists()
	j := New(w, store)
	changes := plan(t, w, usual())
	if _, err := j.Acquire(holder(w), planned(changes)); err != nil {
		t.Fatal(err)
	}
	list, err := j.List()
	if err != nil || len(list) != 12 {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	during := w.Lists()
	second := Holder{7, 70}
	if _, err := j.Acquire(second, planned(changes)); err != nil {
		t.Fatal(err)
	}
	same(t, w, during, "a second command of the same policy")
	if err := j.Release(holder(w)); err != nil {
		t.Fatal(err)
	}
	same(t, w, during, "while the second still runs")
	if err := j.Release(second); err != nil {
		t.Fatal(err)
	}
	same(t, w, before, "after both")
	if list, err := j.List(); err != nil || len(list) != 0 {
		t.Fatalf("%v left, %v", list, err)
	}
}

// TestEveryFailure lets each call fail, for good as in a crash and once, on Windows and in the journal, while acquiring and while
// releasing. The next command puts everything right.
func TestEveryFailure(t *testing.T) {
	for _, phase := range []string{"acquire", "release"} {
		for _, mode := range []string{"once", "once after its effect", "dies", "dies after its effect", "journal"} {
			t.Run(phase+", "+mode, func(t *testing.T) {
				for n := 1; n < 400; n++ {
					w, store := machine(), &memory{}
					before := w.Lists()
					j := New(w, store)
					changes := plan(t, w, usual())
					run := func() error { _, err := j.Acquire(holder(w), planned(changes)); return err }
					if phase == "release" {
						if err := run(); err != nil {
							t.Fatal(err)
						}
						run = func() error { return j.Release(holder(w)) }
					}
					w.Calls, store.calls = nil, 0
					switch mode {
					case "journal":
						store.failAt = n
					default:
						w.FailAt, w.Die, w.AfterEffect = n, mode[:4] == "dies", len(mode) > 10
					}
					err := run()
					reached := store.dead || mode != "journal" && len(w.Calls) >= n
					failed := ""
					if mode != "journal" && reached {
						failed = w.Calls[n-1]
					}
					what := fmt.Sprintf("call %d (%s) failed: %v", n, failed, err)
					if !reached {
						if err != nil {
							t.Fatalf("nothing failed and yet: %v", err)
						}
						return
					}
					w.Revive()
					store.failAt, store.calls, store.holding = 0, 0, false
					if _, err := j.Acquire(holder(w), planned(plan(t, w, usual()))); err != nil {
						t.Fatalf("after %s: the next command: %v", what, err)
					}
					if err := j.Release(holder(w)); err != nil {
						t.Fatalf("after %s: the next command's end: %v", what, err)
					}
					same(t, w, before, "after "+what)
				}
				t.Fatal("400 calls and no end")
			})
		}
	}
}

func TestUserChangesInBetween(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(w *fake.Windows)
		check func(t *testing.T, w *fake.Windows, before map[string]string)
	}{
		"the root was moved": {func(w *fake.Windows) { w.Move(`C:\Users\alice\proj`, `C:\Users\alice\renamed`) },
			func(t *testing.T, w *fake.Windows, before map[string]string) {
				if got, want := w.Lists()[`C:\Users\alice\renamed\.git\hooks`], before[`C:\Users\alice\proj\.git\hooks`]; got != want {
					t.Errorf("is  %s\nwas %s", got, want)
				}
			}},
		"a denied file was replaced": {func(w *fake.Windows) { w.Replace(`C:\Users\alice\proj\secret`) },
			func(t *testing.T, w *fake.Windows, before map[string]string) {
				if got, want := w.Lists()[`C:\Users\alice\proj\secret`], before[`C:\Users\alice\proj\secret`]; got != want {
					t.Errorf("is  %s\nwas %s", got, want)
				}
			}},
		"everything was removed": {func(w *fake.Windows) { w.Remove(`C:\Users\alice\proj`) }, func(*testing.T, *fake.Windows, map[string]string) {}},
		"the user added an entry": {func(w *fake.Windows) {
			w.Loosen(`C:\Users\alice\proj`, sd.ACE{Kind: sd.Deny, Mask: 2, SID: fake.Bob})
		}, func(t *testing.T, w *fake.Windows, before map[string]string) {
			if got, want := w.Lists()[`C:\Users\alice\proj`], "O:S-1-5-21-100-200-300-1001D:AI(D;;0x2;;;S-1-5-21-100-200-300-1002)"; len(got) < len(want) || got[:len(want)] != want {
				t.Errorf("the user's entry is gone: %s", got)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := machine()
			before := w.Lists()
			j := New(w, &memory{})
			if _, err := j.Acquire(holder(w), planned(plan(t, w, usual()))); err != nil {
				t.Fatal(err)
			}
			c.do(w)
			if err := j.Release(holder(w)); err != nil {
				t.Fatal(err)
			}
			if list, err := j.List(); err != nil || len(list) != 0 {
				t.Fatalf("%v left, %v", list, err)
			}
			c.check(t, w, before)
		})
	}
}

// TestForeignEntryStays: what was there before srt is not srt's to remove.
func TestForeignEntryStays(t *testing.T) {
	w := machine()
	w.Loosen(`C:\Users\alice\other`, sd.ACE{Kind: sd.Allow, Flags: sd.Inherit, Mask: sd.MaskRead, SID: group})
	before := w.Lists()
	j := New(w, &memory{})
	if _, err := j.Acquire(holder(w), planned(plan(t, w, wire.FilePolicy{ScanDepth: 1, AllowRead: entries(`C:\Users\alice\other`)}))); err != nil {
		t.Fatal(err)
	}
	if err := j.Release(holder(w)); err != nil {
		t.Fatal(err)
	}
	same(t, w, before, "the entry that was there")
}

// TestCannotTakeAway: an entry that cannot be removed is kept in mind and does not stop the next command.
func TestCannotTakeAway(t *testing.T) {
	w, store := machine(), &memory{}
	j := New(w, store)
	if _, err := j.Acquire(holder(w), planned(plan(t, w, usual()))); err != nil {
		t.Fatal(err)
	}
	w.Own(`C:\Users\alice\proj\secret`, fake.Bob, sd.ACE{Kind: sd.Deny, Mask: 0xd015f, SID: group}, sd.ACE{Mask: sd.MaskRead, SID: fake.Alice})
	err := j.Release(holder(w))
	left := `an access entry of an ended command could not be removed; srt-windows acl list shows it: take srt's entries off "C:\\Users\\alice\\proj\\secret": access denied (Windows error 5)`
	if err == nil || err.Error() != left {
		t.Errorf("got %v", err)
	}
	warnings, err := j.Acquire(holder(w), planned(plan(t, w, wire.FilePolicy{ScanDepth: 1, AllowRead: entries(`C:\Users\alice\other`)})))
	if err != nil || len(warnings) != 1 || warnings[0] != left {
		t.Fatalf("the next command: %v, warnings %q", err, warnings)
	}
	if dropped, err := j.Forget(`C:\Users\alice\proj`, true); err != nil || len(dropped) != 2 {
		t.Fatalf("%v, %v", dropped, err)
	}
}

func TestForget(t *testing.T) {
	w, store := machine(), &memory{}
	before := w.Lists()
	j := New(w, store)
	if _, err := j.Acquire(holder(w), planned(plan(t, w, usual()))); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Forget("", false); problem.Of(err) != problem.Running || err.Error() != "forget access entries: process 100 needs them" {
		t.Fatalf("got %v", err)
	}
	if _, err := j.Forget(`C:\Users\alice\proj\secret`, true); err != nil {
		t.Fatal(err)
	}
	if got, want := w.Lists()[`C:\Users\alice\proj\secret`], w.Lists()[`C:\Users\alice\proj\src`]; got != want {
		t.Errorf("still %s", got)
	}
	if dropped, err := j.Forget("", true); err != nil || len(dropped) > 0 {
		t.Fatalf("%v %v", dropped, err)
	}
	same(t, w, before, "after forgetting everything")
	store.data = []byte("{")
	if _, err := j.List(); problem.Of(err) != problem.Incomplete {
		t.Fatalf("a damaged journal: %v", err)
	}
	if _, err := j.Acquire(holder(w), planned(nil)); problem.Of(err) != problem.Incomplete {
		t.Fatalf("a command with a damaged journal: %v", err)
	}
	if _, err := j.Forget("", true); err != nil {
		t.Fatal(err)
	}
	if _, err := j.List(); err != nil {
		t.Fatal(err)
	}
}

var _ System = (*fake.Windows)(nil)
var _ winapi.Files = (*fake.Windows)(nil)
