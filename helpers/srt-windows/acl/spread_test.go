package acl

import (
	"maps"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

func granted(t *testing.T, w *fake.Windows) Plan {
	t.Helper()
	plan, err := Make(w, Request{Files: wire.FilePolicy{ScanDepth: 1, AllowWrite: []wire.PathEntry{{Path: top, Rule: top}}}, Dir: top, Who: Who{fake.Alice, accountSID, group}})
	if err != nil {
		t.Fatal(err)
	}
	if !apply(t, w, plan) {
		t.Fatal("not applied")
	}
	return plan
}

func revoke(t *testing.T, w *fake.Windows, plan Plan) {
	t.Helper()
	for i := len(plan.Changes) - 1; i >= 0; i-- {
		c := plan.Changes[i]
		was, err := w.Security(c.Object)
		if err != nil {
			t.Fatal(err)
		}
		is, _ := was.Remove(c.Add...)
		if _, err := Spread(w, c.Object, was, is, true); err != nil {
			t.Fatal(err)
		}
		if err := w.SetDACL(c.Object, is); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGrantsFollowNoLink: a junction that an earlier command planted must not carry the next grant out of the tree.
func TestGrantsFollowNoLink(t *testing.T) {
	w := fake.New()
	w.WriteFile(`C:\Users\alice\.ssh\id`)
	w.WriteFile(top + `\src\a`)
	w.Link(top+`\src\out`, `C:\Users\alice\.ssh`)
	before := w.Lists()
	plan := granted(t, w)
	after := w.Lists()
	for _, p := range []string{`C:\Users\alice\.ssh`, `C:\Users\alice\.ssh\id`, top + `\src\out`} {
		if before[p] != after[p] {
			t.Errorf("%s was changed: %s", p, after[p])
		}
	}
	if before[top+`\src\a`] == after[top+`\src\a`] {
		t.Error("the grant did not reach the tree itself")
	}
	revoke(t, w, plan)
	if got := w.Lists(); !maps.Equal(got, before) {
		t.Error("not as before")
	}
}

// TestMovedObjectsKeepWhatTheyBrought: what was moved into the tree carries entries of its old place; they stay, and the grant is added
// behind them.
func TestMovedObjectsKeepWhatTheyBrought(t *testing.T) {
	w := fake.New()
	w.Mkdir(top)
	w.Mkdir(`C:\Users\alice\closed`)
	w.Loosen(`C:\Users\alice\closed`, sd.ACE{Kind: sd.Deny, Flags: sd.Inherit, Mask: sd.MaskWrite, SID: group})
	w.WriteFile(`C:\Users\alice\closed\d\f`)
	w.Move(`C:\Users\alice\closed\d`, top+`\d`)
	before := w.Lists()
	plan := granted(t, w)
	token := commandTokenFor(plan.Roots)
	if w.May(token, top+`\d\f`, sd.WriteData) || !w.May(token, top+`\d\f`, sd.ReadData) {
		t.Errorf("the denial that it brought does not hold: %s", w.Lists()[top+`\d\f`])
	}
	revoke(t, w, plan)
	for p, l := range w.Lists() {
		if before[p] != l {
			t.Errorf("%s\n  is  %s\n  was %s", p, l, before[p])
		}
	}
}

// TestObjectsThatTheUserMayNotChange: a grant passes them by, a denial does not come into force with a gap.
func TestObjectsThatTheUserMayNotChange(t *testing.T) {
	w := fake.New()
	w.WriteFile(top + `\mine`)
	w.Mkdir(top + `\his`)
	w.Own(top+`\his`, fake.Bob, sd.ACE{Mask: sd.MaskRead, Flags: sd.Inherit, SID: sd.Users})
	plan := granted(t, w)
	if token := commandTokenFor(plan.Roots); w.May(token, top+`\his`, sd.WriteData) || !w.May(token, top+`\mine`, sd.WriteData) {
		t.Error("the grant reached what is not the user's, or not what is")
	}
	_, err := Make(w, Request{Files: wire.FilePolicy{ScanDepth: 1, DenyRead: []wire.PathEntry{{Path: top, Rule: top}}}, Dir: top, Who: Who{fake.Alice, accountSID, group}})
	if want := `change the access list of "C:\\Users\\alice\\w\\his": access denied (Windows error 5)`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
