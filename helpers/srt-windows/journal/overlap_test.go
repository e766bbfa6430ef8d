package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	acct "github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/acl"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// shown is the machine as the rules see files.
type shown struct{ w *fake.Windows }

func (s shown) Lstat(path string) pathrule.Kind {
	l, err := s.w.Look(strings.ReplaceAll(path, "/", `\`))
	if err != nil {
		return pathrule.Other
	}
	return map[int]pathrule.Kind{winapi.KindFile: pathrule.File, winapi.KindDir: pathrule.Dir, winapi.KindMissing: pathrule.Missing}[l.Kind]
}
func (shown) Readlink(string) string                                      { return "" }
func (shown) ReadDir(string, func(name []byte, kind pathrule.Kind)) error { return nil }
func (shown) ReadFile(string) []byte                                      { return nil }
func (shown) BornAfterStart(string) bool                                  { return false }

// running is one command that has its entries on disk.
type command struct {
	holder Holder
	files  wire.FilePolicy
	rules  *pathrule.Policy
	token  sd.Token
}

// shop is a machine on which several commands run at once.
type shop struct {
	t     *testing.T
	w     *fake.Windows
	j     *Journal
	pid   uint64
	paths []string
	live  []*command
	story []string
}

func newShop(t *testing.T) *shop {
	s := &shop{t: t, w: fake.New(), pid: 200}
	s.j = New(s.w, &memory{})
	for _, p := range []string{`C:\Users\alice\w`, `C:\Users\alice\w\a`, `C:\Users\alice\w\a\b`, `C:\Users\alice\w\a\b\c`, `C:\Users\alice\w\d`, `C:\pub`, `C:\pub\x`, `C:\pub\x\y`} {
		s.w.Mkdir(p)
		s.w.WriteFile(p + `\f`)
		s.paths = append(s.paths, p, p+`\f`)
	}
	s.w.Loosen(`C:\pub\x\f`, sd.ACE{Mask: sd.MaskModify, SID: sd.Users}) // its own list would undo a denial from above
	return s
}

func slash(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func policyOf(text string) wire.FilePolicy {
	f := wire.FilePolicy{ScanDepth: 1}
	for line := range strings.SplitSeq(text, "; ") {
		kind, path, _ := strings.Cut(line, " ")
		list := map[string]*[]wire.PathEntry{"allowWrite": &f.AllowWrite, "denyWrite": &f.DenyWrite, "denyRead": &f.DenyRead, "allowRead": &f.AllowRead}[kind]
		if list != nil {
			*list = append(*list, wire.PathEntry{Path: slash(path), Rule: path})
		}
	}
	return f
}

// start starts a command under a policy such as "allowWrite C:\a; denyRead C:\b".
func (s *shop) start(policy string) (*command, error) {
	s.pid++
	c := &command{holder: Holder{s.pid, s.pid * 10}, files: policyOf(policy)}
	s.story = append(s.story, fmt.Sprintf("start %d: %s", s.pid, policy))
	var plan acl.Plan
	_, err := s.j.Acquire(c.holder, func() (acl.Plan, error) {
		var err error
		plan, err = acl.Make(s.w, acl.Request{Files: c.files, Dir: `C:\Users\alice\w`, Home: `C:\Users\alice`, Who: acl.Who{Caller: fake.Alice, Account: account, Group: group}})
		return plan, err
	})
	if err != nil {
		s.story[len(s.story)-1] += fmt.Sprintf(" (refused: %v)", err)
		return nil, err
	}
	if c.rules, err = pathrule.NewWith(c.files, shown{s.w}, pathrule.Options{Dir: "C:/Users/alice/w", Home: "C:/Users/alice", FoldCase: true}); err != nil {
		s.t.Fatal(err)
	}
	c.token = acct.Token(acct.IDs{User: account, Group: group})
	c.token.WriteRestricted, c.token.Restricting = true, append([]sd.SID{sd.ForRoot(fmt.Sprint("run ", s.pid))}, limits.Restricting...)
	for _, r := range plan.Roots {
		c.token.Restricting = append(c.token.Restricting, r.SID)
	}
	s.live = append(s.live, c)
	return c, nil
}

func (s *shop) gone(c *command, how string) {
	s.story = append(s.story, fmt.Sprintf("%s %d", how, c.holder.Pid))
	s.live = slices.DeleteFunc(s.live, func(x *command) bool { return x == c })
}

func (s *shop) end(c *command) {
	s.gone(c, "end")
	if err := s.j.Release(c.holder); err != nil {
		s.t.Fatalf("%v\n%s", err, strings.Join(s.story, "\n"))
	}
}

func (s *shop) crash(c *command) { s.gone(c, "crash"); s.w.Dead[uint32(c.holder.Pid)] = true }

// confined fails when a running command may do what its own rules deny.
func (s *shop) confined() {
	s.t.Helper()
	for _, c := range s.live {
		for _, path := range s.paths {
			for _, x := range []struct {
				what string
				mask uint32
				op   pathrule.Op
			}{{"read", sd.ReadData, pathrule.OpRead}, {"write", sd.WriteData, pathrule.OpWrite}, {"remove", sd.Delete, pathrule.OpRemove}, {"set attributes of", sd.WriteAttributes, pathrule.OpChmod}} {
				may := s.w.May(c.token, path, x.mask) || x.mask == sd.Delete && s.w.May(c.token, winpath.Parent(path), sd.DeleteChild)
				if may && !c.rules.Decide(x.op, slash(path)).Allowed {
					s.t.Fatalf("command %d may %s %q, its rules deny it\n%s\n%s", c.holder.Pid, x.what, path, s.w.Lists()[path], strings.Join(s.story, "\n"))
				}
			}
		}
	}
}

// TestOverlap: commands with different rules run at once and end in any order.
func TestOverlap(t *testing.T) {
	const (
		work  = `allowWrite C:\Users\alice\w`
		shut  = `allowWrite C:\Users\alice\w; denyRead C:\Users\alice\w\a; denyWrite C:\Users\alice\w\d`
		inner = `allowWrite C:\Users\alice\w\a\b`
		noPub = `denyRead C:\pub`
	)
	for name, c := range map[string]struct {
		first, second string
		refused       string // of the second
		keeps         string // what whoever goes on longer may read to the end
	}{
		"one denies what the other may write":           {shut, work, "", ""},
		"one may write what the other denies":           {work, shut, "", ""},
		"both deny the same":                            {shut, shut, "", ""},
		"both deny what every user may read":            {noPub, noPub, "", ""},
		"one denies a part of what the other denies":    {noPub, `denyRead C:\pub\x`, "", ""},
		"one denies more than the other":                {`denyRead C:\pub\x`, noPub, "", ""},
		"one reads what lies below the other's denial":  {`denyRead C:\Users\alice\w`, `allowRead C:\Users\alice\w\a\b`, `grant "C:\\Users\\alice\\w\\a\\b": a command that is running (process 201) is denied it (denyRead C:\Users\alice\w), and one access list holds for both`, ""},
		"one denies what lies above the other's grant":  {`allowRead C:\Users\alice\w\a\b`, `denyRead C:\Users\alice\w; allowRead C:\Users\alice\w\d`, "", ""},
		"one writes what lies below the other's denial": {`allowWrite C:\Users\alice\w; denyWrite C:\Users\alice\w\a`, inner, `grant "C:\\Users\\alice\\w\\a\\b": a command that is running (process 201) is denied it (denyWrite C:\Users\alice\w\a), and one access list holds for both`, ""},
		"one denies writing above the other's root":     {inner, `allowWrite C:\Users\alice\w; denyWrite C:\Users\alice\w\a`, "", ""},
		"both read the same":                            {`allowRead C:\Users\alice\w\a`, `allowRead C:\Users\alice\w\a`, "", `C:\Users\alice\w\a\b\f`},
		"one reads more":                                {`allowRead C:\Users\alice\w`, `allowRead C:\Users\alice\w\a`, "", `C:\Users\alice\w\a\b\f`},
		"one reads, the other writes":                   {`allowWrite C:\Users\alice\w`, `allowRead C:\Users\alice\w\a`, "", `C:\Users\alice\w\a\b\f`},
		"both reopen the same":                          {`allowWrite C:\Users\alice\w; denyRead C:\Users\alice\w\a; allowRead C:\Users\alice\w\a\b`, `denyRead C:\Users\alice\w\a; allowRead C:\Users\alice\w\a\b`, "", ""},
	} {
		for _, order := range []string{"the first ends first", "the second ends first", "the first crashes", "the second crashes"} {
			t.Run(name+", "+order, func(t *testing.T) {
				s := newShop(t)
				before := s.w.Lists()
				a, err := s.start(c.first)
				if err != nil {
					t.Fatal(err)
				}
				s.confined()
				b, err := s.start(c.second)
				if c.refused != "" {
					if problem.Of(err) != problem.Running || err.Error() != c.refused {
						t.Fatalf("got %v", err)
					}
					s.confined()
					s.end(a)
					if b, err = s.start(c.second); err != nil {
						t.Fatalf("after the first has ended: %v", err)
					}
					s.end(b)
					same(t, s.w, before, "after both")
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				s.confined()
				if order == "the second ends first" || order == "the second crashes" {
					a, b = b, a
				}
				if strings.HasSuffix(order, "crashes") {
					s.crash(a)
					third, err := s.start(`allowRead C:\Users\alice\w\d`) // takes away what was left
					if err != nil {
						t.Fatal(err)
					}
					s.confined()
					s.end(third)
				} else {
					s.end(a)
				}
				s.confined()
				if c.keeps != "" && !s.w.May(b.token, c.keeps, sd.ReadData) {
					t.Errorf("%q can no longer be read", c.keeps)
				}
				s.end(b)
				same(t, s.w, before, "after both")
			})
		}
	}
}

// TestOverlapAtRandom starts, ends and kills commands with random rules, also in the middle of putting entries on and taking them off.
func TestOverlapAtRandom(t *testing.T) {
	started, refused, crashed := 0, 0, 0
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := newShop(t)
		before := s.w.Lists()
		s.story = append(s.story, fmt.Sprint("seed ", seed))
		for range 14 {
			switch n := r.IntN(6); {
			case len(s.live) > 0 && n < 2:
				s.end(s.live[r.IntN(len(s.live))])
			case len(s.live) > 0 && n == 2:
				s.crash(s.live[r.IntN(len(s.live))])
			case n == 3: // dies while it puts its entries on
				s.w.Calls, s.w.FailAt, s.w.Die = nil, 1+r.IntN(120), true
				c, err := s.start(s.randomPolicy(r))
				s.w.FailAt, s.w.Die = 0, false
				s.w.Dead[uint32(s.pid)] = true
				crashed++
				if err == nil {
					s.gone(c, "crash")
				}
			default:
				_, err := s.start(s.randomPolicy(r))
				var f *wire.Fault
				switch {
				case err == nil:
					started++
				case problem.Of(err) == problem.Running, errors.As(err, &f):
					refused++
				default:
					t.Fatalf("%v\n%s", err, strings.Join(s.story, "\n"))
				}
			}
			s.confined()
		}
		for len(s.live) > 0 {
			s.end(s.live[0])
			s.confined()
		}
		if err := s.j.Sweep(); err != nil {
			t.Fatal(err)
		}
		same(t, s.w, before, "after all: "+strings.Join(s.story, "\n"))
	}
	if started < 500 || refused < 20 || crashed < 100 {
		t.Errorf("%d started, %d refused, %d crashed", started, refused, crashed)
	}
	t.Logf("%d started, %d refused, %d crashed", started, refused, crashed)
}

func (s *shop) randomPolicy(r *rand.Rand) string {
	var out []string
	for range 1 + r.IntN(4) {
		out = append(out, []string{"allowWrite", "denyWrite", "denyRead", "allowRead"}[r.IntN(4)]+" "+s.paths[r.IntN(len(s.paths))])
	}
	return strings.Join(out, "; ")
}
