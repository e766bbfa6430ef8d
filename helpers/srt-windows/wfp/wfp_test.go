package wfp

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const box sd.SID = "S-1-5-21-1-2-3-1002"

func spec() Spec { return Spec{Account: box, Low: limits.ProxyPortLow, High: limits.ProxyPortHigh} }

func TestGolden(t *testing.T) {
	loop := spec()
	loop.Loopback = true
	other := Spec{Account: box, Low: 61000, High: 61000, Sublayer: "00000000-0000-0000-0000-000000000001"}
	for name, s := range map[string]Spec{"default": spec(), "allow-loopback": loop, "one-port-own-sublayer": other} {
		t.Run(name, func(t *testing.T) {
			set, err := Plan(s)
			if err != nil {
				t.Fatal(err)
			}
			got := Describe(set)
			file := filepath.Join("testdata", name+".txtar")
			if *update {
				if err := os.WriteFile(file, []byte("The fence for "+name+".\n-- fence --\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || string(want) != "The fence for "+name+".\n-- fence --\n"+got {
				t.Fatalf("differs from %s (%v); -update rewrites it\n%s", file, err, got)
			}
		})
	}
}

func TestRefusedSpecs(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		text   string
	}{
		"everybody":                  {func(s *Spec) { s.Account = sd.Everyone }, "S-1-1-0 is no account that somebody made: a fence on it would shut others in"},
		"administrators":             {func(s *Spec) { s.Account = sd.Administrators }, "S-1-5-32-544 is no account that somebody made: a fence on it would shut others in"},
		"the built-in administrator": {func(s *Spec) { s.Account = "S-1-5-21-1-2-3-500" }, "S-1-5-21-1-2-3-500 is no account that somebody made: a fence on it would shut others in"},
		"every port":                 {func(s *Spec) { s.Low, s.High = 0, 65535 }, "proxy port range 0-65535: ports must lie in 49152-65535, where no service is assigned one"},
		"no account":                 {func(s *Spec) { s.Account = "" }, `parse SID "": want S-1-AUTHORITY-SUB…, with 1 to 15 parts behind the authority`},
		"range upside down":          {func(s *Spec) { s.Low, s.High = 60002, 60001 }, "proxy port range 60002-60001: the first port is above the last"},
		"low ports":                  {func(s *Spec) { s.Low, s.High = 443, 443 }, "proxy port range 443-443: ports must lie in 49152-65535, where no service is assigned one"},
		"beyond the end":             {func(s *Spec) { s.Low, s.High = 65530, 65536 }, "proxy port range 65530-65536: ports must lie in 49152-65535, where no service is assigned one"},
		"too many":                   {func(s *Spec) { s.Low, s.High = 60000, 60064 }, "proxy port range 60000-60064: at most 64 ports, because each is an opening in the fence"},
		"upper-case GUID":            {func(s *Spec) { s.Sublayer = "6C3CE732-08C8-4A59-873C-0B14920FAA77" }, `GUID "6C3CE732-08C8-4A59-873C-0B14920FAA77": want the form 6c3ce732-08c8-4a59-873c-0b14920faa77, lower case, without braces: not a GUID`},
		"the null GUID":              {func(s *Spec) { s.Sublayer = "00000000-0000-0000-0000-000000000000" }, `GUID "00000000-0000-0000-0000-000000000000": want the form 6c3ce732-08c8-4a59-873c-0b14920faa77, lower case, without braces: not a GUID`},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec()
			c.change(&s)
			if set, err := Plan(s); err == nil || err.Error() != c.text || len(set.Filters) > 0 {
				t.Fatalf("%d filters, %v", len(set.Filters), err)
			}
		})
	}
}

// TestIdentity asks the model of AccessCheck who is matched, the way Windows asks.
func TestIdentity(t *testing.T) {
	groups := []sd.SID{sd.Everyone, sd.Users, sd.AuthenticatedUsers}
	for name, c := range map[string]struct {
		t    sd.Token
		want bool
	}{
		"the account":                              {sd.Token{User: box, Groups: groups}, true},
		"its write-restricted token":               {sd.Token{User: box, Groups: groups, Restricting: []sd.SID{sd.Everyone, sd.Restricted}, WriteRestricted: true}, true},
		"its restricted token":                     {sd.Token{User: box, Groups: groups, Restricting: []sd.SID{sd.Everyone, sd.Restricted}}, true},
		"another user":                             {sd.Token{User: fake.Alice, Groups: groups}, false},
		"another user's restricted token":          {sd.Token{User: fake.Alice, Groups: groups, Restricting: []sd.SID{sd.Restricted}}, false},
		"known limit: a deny-only copy":            {sd.Token{User: box, UserDenyOnly: true, Groups: groups}, false},
		"known limit: the anonymous token":         {sd.Token{User: sd.Anonymous}, false},
		"unproven: restricted without RESTRICTED":  {sd.Token{User: box, Groups: groups, Restricting: []sd.SID{sd.Everyone}}, false},
		"restricted for writes without RESTRICTED": {sd.Token{User: box, Groups: groups, Restricting: []sd.SID{sd.Everyone}, WriteRestricted: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, known := sd.Check(Identity(box), c.t, sd.MatchFilter, sd.FilterMapping); got != c.want || !known {
				t.Fatalf("matched: %v, known: %v", got, known)
			}
		})
	}
}

// TestVerdicts runs connections through the filters of a layer by weight, as the platform does.
func TestVerdicts(t *testing.T) {
	type conn struct {
		layer    winapi.GUID
		user     sd.SID
		remote   string
		port     uint16
		local    uint16
		protocol uint32
		loopback bool
	}
	for name, c := range map[string]struct {
		loopbackOpen bool
		conn         conn
		want         int // 0: the fence has no opinion
	}{
		"the proxy":                              {false, conn{connect4, box, "127.0.0.1", 60080, 5, 6, true}, winapi.ActionPermit},
		"the proxy over IPv6":                    {false, conn{connect6, box, "::1", 60089, 5, 6, true}, winapi.ActionPermit},
		"a port beside the range":                {false, conn{connect4, box, "127.0.0.1", 60090, 5, 6, true}, winapi.ActionBlock},
		"the range over UDP":                     {false, conn{connect4, box, "127.0.0.1", 60080, 5, 17, true}, winapi.ActionBlock},
		"the range on another loopback address":  {false, conn{connect4, box, "127.0.0.2", 60080, 5, 6, true}, winapi.ActionBlock},
		"the range on the machine's own address": {false, conn{connect4, box, "192.168.1.2", 60080, 5, 6, true}, winapi.ActionBlock},
		"the range elsewhere":                    {false, conn{connect4, box, "203.0.113.1", 60080, 5, 6, false}, winapi.ActionBlock},
		"DNS":                                    {false, conn{connect4, box, "192.168.1.1", 53, 5, 17, false}, winapi.ActionBlock},
		"ping":                                   {false, conn{connect4, box, "8.8.8.8", 0, 8, 1, false}, winapi.ActionBlock},
		"IPv6 out":                               {false, conn{connect6, box, "2001:db8::1", 443, 5, 6, false}, winapi.ActionBlock},
		"another user":                           {false, conn{connect4, fake.Alice, "203.0.113.1", 443, 5, 6, false}, 0},
		"a local server, closed":                 {false, conn{connect4, box, "127.0.0.1", 3000, 5, 6, true}, winapi.ActionBlock},
		"a local server, open":                   {true, conn{connect4, box, "127.0.0.1", 3000, 5, 6, true}, winapi.ActionPermit},
		"the machine's own address, open":        {true, conn{connect4, box, "192.168.1.2", 3000, 5, 6, true}, winapi.ActionBlock},
		"somebody connects in":                   {false, conn{accept4, box, "203.0.113.1", 5, 8080, 6, false}, winapi.ActionBlock},
		"somebody local connects in, closed":     {false, conn{accept4, box, "127.0.0.1", 5, 8080, 6, true}, winapi.ActionBlock},
		"somebody local connects in, open":       {true, conn{accept4, box, "127.0.0.1", 5, 8080, 6, true}, winapi.ActionPermit},
		"posing as the proxy, open":              {true, conn{accept4, box, "127.0.0.1", 5, 60080, 6, true}, winapi.ActionBlock},
		"posing as the proxy over IPv6, open":    {true, conn{accept6, box, "::1", 5, 60080, 6, true}, winapi.ActionBlock},
		"another user's server":                  {true, conn{accept4, fake.Alice, "203.0.113.1", 5, 80, 6, false}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec()
			s.Loopback = c.loopbackOpen
			set, err := Plan(s)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, f := range ordered(set.Filters) { // highest weight first within a layer
				if f.Layer == c.conn.layer && all(f.Conditions, func(x winapi.Condition) bool {
					switch x.Field {
					case fieldUser:
						ok, _ := sd.Check(x.Identity, sd.Token{User: c.conn.user, Groups: []sd.SID{sd.Everyone}}, sd.MatchFilter, sd.FilterMapping)
						return ok
					case fieldFlags:
						return c.conn.loopback && x.Number == flagLoopback
					case fieldProtocol:
						return x.Number == c.conn.protocol
					case fieldRemoteAddr:
						return x.Net.Contains(addr(c.conn.remote))
					case fieldRemotePort:
						return x.Low <= c.conn.port && c.conn.port <= x.High
					case fieldLocalPort:
						return x.Low <= c.conn.local && c.conn.local <= x.High
					}
					t.Fatalf("unknown field %s", x.Field)
					return false
				}) {
					got = f.Action
					break
				}
			}
			if got != c.want {
				t.Fatalf("got 0x%x, want 0x%x", got, c.want)
			}
		})
	}
}

func TestApplyIsOneTransaction(t *testing.T) {
	set, err := Plan(spec())
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		w := fake.New()
		w.IsElevated = true
		w.FailAt = n
		err := Apply(w, set)
		reached := len(w.Calls) >= n
		w.Revive()
		drift, derr := Drift(w, set)
		if derr != nil {
			t.Fatal(derr)
		}
		switch {
		case !reached && (err != nil || len(drift) > 0):
			t.Fatalf("nothing failed and yet: %v %v", err, drift)
		case !reached:
			return
		case err == nil:
			t.Fatalf("call %d failed and Apply did not say so", n)
		case len(drift) != 0 && len(drift) != 2+len(set.Filters): // provider, sublayer and every filter
			t.Fatalf("call %d failed and left half a fence: %v", n, drift)
		}
	}
}
