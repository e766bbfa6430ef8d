package acl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// CommandToken is the token of a command with these roots, as access lists see it.
func commandTokenFor(roots []Root) sd.Token {
	p := &planner{who: Who{fake.Alice, accountSID, group}}
	t := p.commandToken()
	t.Restricting = append([]sd.SID{"S-1-5-5-0-77"}, t.Restricting...)
	for _, r := range roots {
		t.Restricting = append(t.Restricting, r.SID)
	}
	return t
}

const top = `C:\Users\alice\w`

type world struct {
	w      *fake.Windows
	paths  []string
	before map[string]sd.Descriptor // lists before the plan
	grants map[string][]sd.ACE      // what the plan grants on the object itself
	dirs   map[string]bool
	policy wire.FilePolicy
	story  string
}

func randomWorld(r *rand.Rand) *world {
	x := &world{w: fake.New(), dirs: map[string]bool{top: true}}
	x.w.Mkdir(top)
	dirs := []string{top}
	names := []string{"a", "B", "c", ".git", "hooks"}
	for range 4 + r.IntN(10) {
		d := dirs[r.IntN(len(dirs))]
		p := winpath.Join(d, names[r.IntN(len(names))])
		if o, err := x.w.Resolve(p); err == nil {
			_ = o
			continue
		}
		if r.IntN(3) > 0 {
			x.w.Mkdir(p)
			dirs = append(dirs, p)
			x.dirs[p] = true
		} else {
			x.w.WriteFile(p)
		}
		x.paths = append(x.paths, p)
		x.story += fmt.Sprintf("%s dir=%v\n", p, x.dirs[p])
	}
	for range r.IntN(4) {
		p := x.pick(r)
		flags := byte(0)
		if x.dirs[p] && r.IntN(2) == 0 {
			flags = sd.Inherit
		}
		who := []sd.SID{sd.Users, accountSID, fake.Bob, group, sd.AuthenticatedUsers}[r.IntN(5)]
		mask := []uint32{sd.MaskRead, sd.MaskModify, sd.MaskAll}[r.IntN(3)]
		e := sd.ACE{Kind: byte(r.IntN(6) / 5), Flags: flags, Mask: mask, SID: who}
		if r.IntN(3) == 0 {
			x.w.Own(p, []sd.SID{fake.Alice, accountSID}[r.IntN(2)], sd.ACE{Mask: sd.MaskAll, Flags: flags, SID: fake.Alice}, e)
			if e.Kind == sd.Deny { // keep it canonical
				x.w.Own(p, fake.Alice, e, sd.ACE{Mask: sd.MaskAll, Flags: flags, SID: fake.Alice})
			}
			x.story += "own "
		} else if e.Kind == sd.Allow {
			x.w.Loosen(p, e)
		}
		x.story += fmt.Sprintf("list %s %v\n", p, e)
	}
	entry := func() wire.PathEntry {
		p := x.pick(r)
		if r.IntN(3) == 0 {
			p = winpath.Key(p[:3]) + winpath.Key(p[3:]) // another case
		}
		return wire.PathEntry{Path: p, Rule: p}
	}
	x.policy.ScanDepth = 3
	for i, l := range []*[]wire.PathEntry{&x.policy.AllowWrite, &x.policy.DenyWrite, &x.policy.DenyRead, &x.policy.AllowRead} {
		for range r.IntN(3) {
			*l = append(*l, entry())
			x.story += fmt.Sprintf("list %d: %s\n", i, (*l)[len(*l)-1].Path)
		}
	}
	if r.IntN(2) == 0 {
		x.policy.Protected, x.policy.GitRules = protected, true
	}
	return x
}

func (x *world) pick(r *rand.Rand) string {
	if n := r.IntN(len(x.paths) + 1); n < len(x.paths) {
		return x.paths[n]
	}
	return top
}

// TestPlanMeansWhatTheRulesSay compares, for random trees, lists and policies, what the planned entries let a command do under the model
// of AccessCheck with what core/pathrule decides.
//
// Both ways: a list allows exactly what the rules allow, as far as Windows lets srt say it. What it does not is computed from the lists
// that were there before, and compared too: outside every grant the account has its own rights only, an object that inherits nothing gets
// no grant from above, and somebody's denial stays. The one exception: new names that are protected as names (in a git directory, or
// below the depth that is searched), which no list can refuse; Appeared reports those that matter.
func TestPlanMeansWhatTheRulesSay(t *testing.T) {
	const rounds = 1500
	planned, checked, narrower := 0, 0, 0
	for seed := range uint64(rounds) {
		x := randomWorld(rand.New(rand.NewPCG(seed, 8)))
		req := Request{Files: x.policy, Dir: top, Home: `C:\Users\alice`, Who: Who{fake.Alice, accountSID, group}}
		plan, err := Make(x.w, req)
		if err != nil {
			var f *wire.Fault
			if !errors.As(err, &f) {
				t.Fatalf("seed %d: %v\n%s", seed, err, x.story)
			}
			continue
		}
		planned++
		x.remember(plan)
		if !apply(t, x.w, plan) {
			continue
		}
		files, err := cleanPolicy(x.policy)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := pathrule.NewWith(files, &view{api: x.w}, pathrule.Options{Dir: slashed(top), Home: "C:/Users/alice", FoldCase: true})
		if err != nil {
			t.Fatal(err)
		}
		p := &planner{rules: rules, marks: map[string]*pathrule.Mark{}}
		for _, m := range rules.Marks() {
			p.marks[winpath.Key(native(m.Path))] = m
		}
		token := commandTokenFor(plan.Roots)
		for _, path := range append([]string{top}, x.paths...) {
			may := func(mask uint32) bool { return x.w.May(token, path, mask) }
			where := p.regionOf(slashed(path))
			free := slashed(winpath.Join(path, "brandnew"))
			fresh := rules.Decide(pathrule.OpCreate, free)
			byName := strings.HasSuffix(fresh.Reason, "is not what git work makes") || strings.HasSuffix(fresh.Reason, "is protected in every directory that was there before")
			for _, c := range []struct {
				what    string
				mask    uint32
				list    bool
				rules   bool
				granted bool // a grant of ours should give it
			}{
				{"read", sd.ReadData, may(sd.ReadData), rules.Decide(pathrule.OpRead, slashed(path)).Allowed, where == readable || where == writable},
				{"write", sd.WriteData, may(sd.WriteData), rules.Decide(pathrule.OpWrite, slashed(path)).Allowed, where == writable},
				{"change attributes", sd.WriteAttributes, may(sd.WriteAttributes), rules.Decide(pathrule.OpChmod, slashed(path)).Allowed, where == writable},
				{"remove", sd.Delete, may(sd.Delete) || x.w.May(token, winpath.Parent(path), sd.DeleteChild), rules.Decide(pathrule.OpRemove, slashed(path)).Allowed, where == writable},
				{"make a file in", sd.WriteData, x.dirs[path] && may(sd.WriteData), fresh.Allowed, where == writable && x.dirs[path]},
				{"change the list of", sd.WriteDAC, may(sd.WriteDAC) || may(sd.WriteOwner), false, false},
			} {
				checked++
				if c.list && !c.rules && c.what == "make a file in" && byName {
					continue // a name that does not exist has no list: such names are looked for afterwards
				}
				if c.list && !c.rules {
					t.Fatalf("seed %d: a command may %s %q, the rules deny it (region %d, %s)\n%s\n%s", seed, c.what, path, where, x.w.Lists()[path], x.story, Describe(plan))
				}
				want := c.rules && x.has(token, path, c.mask)
				if c.granted {
					want = c.rules && x.reached(token, path, c.mask)
				}
				if c.list != want {
					t.Fatalf("seed %d: a command may %s %q: %v, expected %v (region %d, %s)\n%s\n%s", seed, c.what, path, c.list, want, where, x.w.Lists()[path], x.story, Describe(plan))
				}
				if c.rules && !c.list {
					narrower++
				}
			}
		}
	}
	if planned < rounds/3 || checked < 10000 {
		t.Errorf("only %d plans and %d comparisons", planned, checked)
	}
	t.Logf("%d plans, %d comparisons, %d times narrower than the rules", planned, checked, narrower)
}

func apply(t *testing.T, w *fake.Windows, plan Plan) bool {
	t.Helper()
	for _, c := range plan.Changes {
		d, err := w.Security(c.Object)
		if err != nil {
			t.Fatal(err)
		}
		now, _, err := d.Add(c.Add...)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.SetDACL(c.Object, now); err != nil {
			t.Fatalf("%s: %v", c.Object.Path, err)
		}
		if c.Object.Dir {
			if _, err := Spread(w, c.Object, d, now, false); err != nil && !errors.Is(err, winapi.ErrAccessDenied) {
				t.Fatalf("%s: %v", c.Object.Path, err)
			} else if err != nil {
				return false // a denial that cannot reach everything: the journal takes it all back
			}
		}
	}
	return true
}

// TestRootsAreApart: a command of another session, without the root's identifier, cannot write where this one may.
func TestRootsAreApart(t *testing.T) {
	w := fake.New()
	w.Mkdir(top)
	w.WriteFile(winpath.Join(top, "f"))
	plan, err := Make(w, Request{Files: wire.FilePolicy{ScanDepth: 1, AllowWrite: []wire.PathEntry{{Path: top, Rule: top}}}, Dir: top, Who: Who{fake.Alice, accountSID, group}})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, w, plan)
	for _, path := range []string{top, winpath.Join(top, "f")} {
		if !w.May(commandTokenFor(plan.Roots), path, sd.WriteData) {
			t.Errorf("the command itself cannot write %q", path)
		}
		if w.May(commandTokenFor([]Root{{SID: sd.ForRoot("another")}}), path, sd.WriteData) {
			t.Errorf("another command can write %q", path)
		}
		if !w.May(sd.Token{User: fake.Alice}, path, sd.MaskAll) {
			t.Errorf("the user has lost rights on %q: %s", path, w.Lists()[path])
		}
	}
	if len(limits.Restricting) == 0 || len(plan.Roots) != 1 {
		t.Error("nothing restricts the token")
	}
	if _, err := w.Find(winapi.Object{}); !errors.Is(err, winapi.ErrFileNotFound) {
		t.Error(err)
	}
}
