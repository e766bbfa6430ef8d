package sd

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

const (
	alice SID = "S-1-5-21-1-2-3-1001"
	box   SID = "S-1-5-21-1-2-3-1002"
)

func TestSIDText(t *testing.T) {
	for name, c := range map[string]struct {
		in string
		ok bool
	}{
		"a machine account":            {"S-1-5-21-1-2-3-1001", true},
		"a large authority":            {"S-1-281474976710655-7", true},
		"fifteen parts":                {"S-1-5-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15", true},
		"sixteen parts":                {"S-1-5-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-16", false},
		"no part behind the authority": {"S-1-5", false},
		"a leading zero":               {"S-1-5-021", false},
		"a sign":                       {"S-1-5-+1", false},
		"a part of 33 bits":            {"S-1-5-4294967296", false},
		"another revision":             {"S-2-5-21", false},
		"an SDDL alias":                {"BA", false},
	} {
		t.Run(name, func(t *testing.T) {
			sid, err := ParseSID(c.in)
			if (err == nil) != c.ok {
				t.Fatalf("ParseSID(%q) = %q, %v", c.in, sid, err)
			}
			if !c.ok {
				return
			}
			raw, err := sid.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			back, n, err := SIDFromBytes(raw)
			if err != nil || back != sid || n != len(raw) {
				t.Fatalf("back: %q, %d of %d bytes, %v", back, n, len(raw), err)
			}
		})
	}
}

func TestRootSIDsDiffer(t *testing.T) {
	seen := map[SID]string{}
	for i := range 2000 {
		key := fmt.Sprintf(`C:\WORK\%d`, i)
		sid := ForRoot(key)
		if _, err := ParseSID(string(sid)); err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[sid]; ok {
			t.Fatalf("%q and %q share %s", key, other, sid)
		}
		seen[sid] = key
	}
	if got, want := ForRoot(`C:\WORK`), ForRoot(`C:\WORK`); got != want {
		t.Fatalf("the same root gave %s and %s", got, want)
	}
}

func TestAddKeepsCanonicalOrder(t *testing.T) {
	d := Descriptor{Owner: alice, DACL: []ACE{
		{Kind: Deny, Mask: Delete, SID: Everyone},
		{Kind: Allow, Mask: MaskAll, SID: alice},
		{Kind: Deny, Flags: Inherited, Mask: 1, SID: Users},
		{Kind: Allow, Flags: Inherited, Mask: 1, SID: Users},
	}}
	deny, allow := ACE{Kind: Deny, Mask: MaskWrite, SID: box}, ACE{Kind: Allow, Flags: Inherit, Mask: MaskRead, SID: box}
	out, added, err := d.Add(allow, deny, allow)
	if err != nil || len(added) != 2 {
		t.Fatalf("added %v, %v", added, err)
	}
	want := "O:S-1-5-21-1-2-3-1001D:(D;;0x10000;;;S-1-1-0)(D;;0xd0156;;;S-1-5-21-1-2-3-1002)(A;;0x1f01ff;;;S-1-5-21-1-2-3-1001)" +
		"(A;OICI;0x1200a9;;;S-1-5-21-1-2-3-1002)(D;ID;0x1;;;S-1-5-32-545)(A;ID;0x1;;;S-1-5-32-545)"
	if out.String() != want {
		t.Fatalf("got  %s\nwant %s", out, want)
	}
	back, n := out.Remove(added...)
	if n != 2 || back.String() != d.String() {
		t.Fatalf("removing what was added gave %s", back)
	}
}

func TestAddRefuses(t *testing.T) {
	deny := ACE{Kind: Deny, Mask: 1, SID: box}
	for name, c := range map[string]struct {
		d    Descriptor
		want error
	}{
		"an object without a list":                       {Descriptor{NoDACL: true}, ErrNoDACL},
		"a grant in front of a denial":                   {Descriptor{DACL: []ACE{{Kind: Allow, Mask: 1, SID: alice}, {Kind: Deny, Mask: 1, SID: box}}}, ErrNotCanonical},
		"an inherited entry in front of an explicit one": {Descriptor{DACL: []ACE{{Flags: Inherited, Mask: 1, SID: alice}, {Mask: 1, SID: box}}}, ErrNotCanonical},
	} {
		t.Run(name, func(t *testing.T) {
			out, added, err := c.d.Add(deny)
			if !errors.Is(err, c.want) || added != nil || out.String() != c.d.String() {
				t.Fatalf("got %s, added %v, %v", out, added, err)
			}
		})
	}
}

func TestInheritance(t *testing.T) {
	parent := Descriptor{DACL: []ACE{
		{Kind: Allow, Flags: Inherit, Mask: 1, SID: Users},
		{Kind: Allow, Flags: Inherit | InheritOnly, Mask: 2, SID: CreatorOwner},
		{Kind: Deny, Flags: ObjectInherit, Mask: 4, SID: box},
		{Kind: Deny, Flags: ContainerInherit | NoPropagate, Mask: 8, SID: box},
		{Kind: Allow, Mask: 16, SID: alice},
	}}
	own := Descriptor{Owner: alice, DACL: []ACE{{Kind: Allow, Mask: 32, SID: alice}, {Flags: Inherited, Mask: 64, SID: box}}}
	for name, c := range map[string]struct {
		child Descriptor
		dir   bool
		want  string
	}{
		"a file":                {own, false, "O:S-1-5-21-1-2-3-1001D:(A;;0x20;;;S-1-5-21-1-2-3-1001)(A;ID;0x1;;;S-1-5-32-545)(A;ID;0x2;;;S-1-5-21-1-2-3-1001)(D;ID;0x4;;;S-1-5-21-1-2-3-1002)"},
		"a directory":           {own, true, "O:S-1-5-21-1-2-3-1001D:(A;;0x20;;;S-1-5-21-1-2-3-1001)(A;OICIID;0x1;;;S-1-5-32-545)(A;ID;0x2;;;S-1-5-21-1-2-3-1001)(A;OICIIOID;0x2;;;S-1-3-0)(D;OIIOID;0x4;;;S-1-5-21-1-2-3-1002)(D;ID;0x8;;;S-1-5-21-1-2-3-1002)"},
		"a protected directory": {Descriptor{Protected: true, DACL: own.DACL[:1]}, true, "D:P(A;;0x20;;;S-1-5-21-1-2-3-1001)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.child.InheritFrom(parent, c.dir).String(); got != c.want {
				t.Fatalf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	root := ForRoot("root")
	ordinary := Token{User: box, Groups: []SID{Everyone, Users}}
	fenced := Token{User: box, Groups: []SID{Everyone, Users}, Restricting: []SID{Everyone, Restricted, root}, WriteRestricted: true}
	full := fenced
	full.WriteRestricted = false
	open := []ACE{{Mask: MaskModify, SID: Users}}
	for name, c := range map[string]struct {
		d       Descriptor
		t       Token
		desired uint32
		allowed bool
		known   bool
	}{
		"the zero token on an empty list":                             {Descriptor{}, Token{}, ReadData, false, true},
		"the zero token on an entry without a SID":                    {Descriptor{DACL: []ACE{{Mask: MaskAll}}}, Token{}, ReadData, false, true},
		"a grant to a group":                                          {Descriptor{DACL: open}, ordinary, WriteData, true, true},
		"a denial in front of the grant":                              {Descriptor{DACL: []ACE{{Kind: Deny, Mask: WriteData, SID: box}, open[0]}}, ordinary, WriteData, false, true},
		"a denial behind the grant":                                   {Descriptor{DACL: []ACE{open[0], {Kind: Deny, Mask: WriteData, SID: box}}}, ordinary, WriteData, true, true},
		"a write-restricted token reads through a group":              {Descriptor{DACL: open}, fenced, ReadData, true, true},
		"a write-restricted token does not write through a group":     {Descriptor{DACL: open}, fenced, WriteData, false, true},
		"a write-restricted token does not delete through a group":    {Descriptor{DACL: open}, fenced, Delete, false, true},
		"it writes where its root identifier is named too":            {Descriptor{DACL: append([]ACE{{Mask: MaskModify, SID: root}}, open...)}, fenced, WriteData, true, true},
		"the root identifier alone gives nothing":                     {Descriptor{DACL: []ACE{{Mask: MaskModify, SID: root}}}, fenced, WriteData, false, true},
		"a fully restricted token does not even read through a group": {Descriptor{DACL: open}, full, ReadData, false, true},
		"an owner may change the list of its object":                  {Descriptor{Owner: box}, ordinary, WriteDAC, true, true},
		"not where owner rights are named":                            {Descriptor{Owner: box, DACL: []ACE{{Mask: ReadControl, SID: OwnerRights}}}, ordinary, WriteDAC, false, true},
		"an owner under a token that does not name it cannot":         {Descriptor{Owner: box}, fenced, WriteDAC, false, true},
		"a deny-only user is still denied":                            {Descriptor{DACL: []ACE{{Kind: Deny, Mask: 1, SID: box}, {Mask: 1, SID: Everyone}}}, Token{User: box, UserDenyOnly: true, Groups: []SID{Everyone}}, 1, false, true},
		"a deny-only user is granted nothing":                         {Descriptor{DACL: []ACE{{Mask: 1, SID: box}}}, Token{User: box, UserDenyOnly: true}, 1, false, true},
		"no list lets everybody in":                                   {Descriptor{NoDACL: true}, fenced, WriteData, true, true},
		"an entry that is not understood":                             {Descriptor{DACL: []ACE{{Kind: 9, Opaque: []byte{9, 0, 4, 0}}, open[0]}}, ordinary, ReadData, false, false},
		"an inherit-only entry does not count":                        {Descriptor{DACL: []ACE{{Flags: InheritOnly, Mask: MaskAll, SID: box}}}, ordinary, ReadData, false, true},
		"generic rights are mapped":                                   {Descriptor{DACL: []ACE{{Mask: GenericRead, SID: box}}}, ordinary, ReadData, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			if allowed, known := Check(c.d, c.t, c.desired, FileMapping); allowed != c.allowed || known != c.known {
				t.Fatalf("allowed %v, known %v", allowed, known)
			}
		})
	}
}

func TestMasksKeepTheirPromises(t *testing.T) {
	for name, ok := range map[string]bool{
		"modify gives no right over the list":           MaskModify&(WriteDAC|WriteOwner|DeleteChild) == 0,
		"a root cannot be moved away":                   MaskContent&(Delete|DeleteChild|WriteDAC|WriteOwner) == 0,
		"reading gives no right to change":              MaskRead&MaskWrite == 0,
		"denying writes leaves reading alone":           MaskWrite&MaskRead == 0,
		"denying writes takes every right that changes": MaskWrite == MaskAll&^MaskRead,
		"passing through lists nothing":                 MaskPass&(ReadData|ReadEA|MaskWrite) == 0,
	} {
		if !ok {
			t.Errorf("%s: not so", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, d := range []Descriptor{
		{Owner: alice, Group: Users, AutoInherited: true, DACL: []ACE{{Kind: Deny, Flags: Inherit, Mask: MaskWrite, SID: box}, {Mask: MaskAll, SID: alice}}},
		{NoDACL: true},
		{Protected: true, DACL: []ACE{{Kind: 9, Opaque: []byte{9, 0, 8, 0, 1, 2, 3, 4}}}},
	} {
		b, err := d.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b)
		if err != nil {
			return
		}
		first, err := d.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Decode(first)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		second, err := again.Encode()
		if err != nil || len(again.DACL) != len(d.DACL) || again.NoDACL != d.NoDACL {
			t.Fatalf("%s became %s (%v)", d, again, err)
		}
		if !bytes.Equal(first, second) {
			t.Fatalf("not stable: %s", again)
		}
	})
}
