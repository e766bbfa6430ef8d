package winapi

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

var procAccessCheck = advapi32.NewProc("AccessCheck")

func readBack(n *windows.SECURITY_DESCRIPTOR) (sd.Descriptor, error) {
	return sd.Decode(unsafe.Slice((*byte)(unsafe.Pointer(n)), n.Length()))
}

type genericMapping struct{ read, write, execute, all uint32 }

// windowsSays asks AccessCheck.
func windowsSays(t *testing.T, token windows.Token, d sd.Descriptor, mask uint32) bool {
	t.Helper()
	n, err := native(d)
	if err != nil {
		t.Fatal(err)
	}
	m := genericMapping{sd.FileMapping.Read, sd.FileMapping.Write, sd.FileMapping.Execute, sd.FileMapping.All}
	var privileges [256]byte
	size := uint32(len(privileges))
	var granted, ok uint32
	r, _, err := procAccessCheck.Call(uintptr(unsafe.Pointer(n)), uintptr(token), uintptr(mask), uintptr(unsafe.Pointer(&m)),
		uintptr(unsafe.Pointer(&privileges)), uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&granted)), uintptr(unsafe.Pointer(&ok)))
	if r == 0 {
		t.Fatalf("AccessCheck: %v", err)
	}
	return ok != 0
}

// impersonation gives a copy of a token that AccessCheck takes.
func impersonation(t *testing.T, from windows.Token) windows.Token {
	t.Helper()
	var out windows.Token
	if err := windows.DuplicateTokenEx(from, windows.TOKEN_QUERY|windows.TOKEN_DUPLICATE|windows.TOKEN_IMPERSONATE, nil, windows.SecurityImpersonation, windows.TokenImpersonation, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestModelAgreesWithAccessCheck compares the model that all plans are tested against with the system's own answer, on random lists.
// On Windows itself also for a write-restricted token; Wine does not restrict tokens.
func TestModelAgreesWithAccessCheck(t *testing.T) {
	var own windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_QUERY|windows.TOKEN_DUPLICATE, &own); err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	compare(t, "the process's token", own, 3000)
	if wine() {
		t.Log("Wine: tokens are not restricted, so that half of the model is not compared")
		return
	}
	restricted, err := (&Real{}).Restrict(TokenSpec{Flags: 0x9, Restricting: []sd.SID{sd.Everyone, sd.Restricted, sd.ForRoot("a")}})
	if err != nil {
		t.Fatal(err)
	}
	defer restricted.Close()
	compare(t, "a write-restricted token", restricted.(*token).t, 3000)
}

func compare(t *testing.T, name string, from windows.Token, rounds int) {
	facts, err := factsOf(from)
	if wine() { // it does not answer for restrictions
		facts, err = identityOf(from)
	}
	if err != nil {
		t.Fatal(err)
	}
	model := sd.Token{User: facts.User, Groups: facts.Groups, Restricting: facts.Restricting, WriteRestricted: facts.WriteRestricted}
	token := impersonation(t, from)
	defer token.Close()
	sids := append([]sd.SID{facts.User, sd.Everyone, sd.Restricted, sd.ForRoot("a"), "S-1-5-21-9-9-9-9999", sd.OwnerRights}, facts.Groups...)
	rights := []uint32{sd.ReadData, sd.WriteData, sd.AppendData, sd.Execute, sd.DeleteChild, sd.ReadAttributes, sd.WriteAttributes, sd.Delete, sd.ReadControl, sd.WriteDAC, sd.WriteOwner}
	if wine() { // it grants the standard rights over the object's life to its administrator without asking the list
		rights = slices.DeleteFunc(rights, func(r uint32) bool { return r == sd.Delete || r == sd.WriteOwner })
		rounds /= 4
	}
	r := rand.New(rand.NewPCG(8, 8))
	allowed, different := 0, 0
	for range rounds {
		d := sd.Descriptor{Owner: sids[r.IntN(len(sids)-1)], Group: sd.LocalSystem}
		if d.Owner == sd.OwnerRights {
			d.Owner = facts.User
		}
		for range r.IntN(6) {
			one, other := rights[r.IntN(len(rights))], rights[r.IntN(len(rights))]
			a := sd.ACE{Kind: byte(r.IntN(4) / 3), SID: sids[r.IntN(len(sids))], Mask: one | other}
			if r.IntN(5) == 0 {
				a.Flags = sd.Inherit | sd.InheritOnly
			}
			if r.IntN(6) == 0 {
				a.Mask = []uint32{sd.MaskAll, sd.MaskModify, sd.GenericRead, sd.GenericAll, sd.MaskRead}[r.IntN(5)]
			}
			d.DACL = append(d.DACL, a)
		}
		if wine() && slices.ContainsFunc(d.DACL, func(a sd.ACE) bool { return a.SID == sd.OwnerRights }) {
			continue // Wine knows no owner rights
		}
		for _, mask := range rights {
			want := windowsSays(t, token, d, mask)
			got, known := sd.Check(d, model, mask, sd.FileMapping)
			if want {
				allowed++
			}
			if got != want || !known {
				if different++; different < 5 {
					t.Errorf("%s, right 0x%x on %s: the system says %v, the model %v", name, mask, d, want, got)
				}
			}
		}
	}
	if allowed < rounds {
		t.Errorf("%s: only %d answers were yes", name, allowed)
	}
}
