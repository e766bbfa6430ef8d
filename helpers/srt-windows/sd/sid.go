package sd

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// SID is a security identifier in its text form, "S-1-5-32-545". The zero value names nobody.
type SID string

// Well-known identifiers, each with what holds it.
const (
	Everyone           SID = "S-1-1-0"      // every token but an anonymous one
	Local              SID = "S-1-2-0"      // tokens of logons at this machine
	ConsoleLogon       SID = "S-1-2-1"      // tokens of logons at its console
	OwnerRights        SID = "S-1-3-4"      // limits what being the owner gives
	CreatorOwner       SID = "S-1-3-0"      // replaced by the creator's SID when inherited
	Network            SID = "S-1-5-2"      // tokens of network logons
	Interactive        SID = "S-1-5-4"      // tokens of interactive logons, ours among them
	Anonymous          SID = "S-1-5-7"      // the anonymous token
	AuthenticatedUsers SID = "S-1-5-11"     // every token of a logon with a password
	Restricted         SID = "S-1-5-12"     // stands in lists of restricting SIDs only
	LocalSystem        SID = "S-1-5-18"     // the operating system
	Administrators     SID = "S-1-5-32-544" // elevated tokens
	Users              SID = "S-1-5-32-545" // every local user, through Interactive and AuthenticatedUsers
	PerformanceLog     SID = "S-1-5-32-559" // every interactive token, on some editions
	LocalAccount       SID = "S-1-5-113"    // every local account
	ThisOrganization   SID = "S-1-5-15"     // tokens of this domain or machine
	NTLM               SID = "S-1-5-64-10"  // tokens of logons that NTLM has checked, as those of local accounts are
	AllAppPackages     SID = "S-1-15-2-1"   // every AppContainer
	AllRestrictedApps  SID = "S-1-15-2-2"   // every less privileged AppContainer
)

// maxSubAuthorities is the bound that Windows sets.
const maxSubAuthorities = 15

// ParseSID reads the text form and gives it back in canonical spelling.
func ParseSID(text string) (SID, error) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || parts[0] != "S" || parts[1] != "1" || len(parts)-3 > maxSubAuthorities {
		return "", fmt.Errorf("parse SID %q: want S-1-AUTHORITY-SUB…, with 1 to %d parts behind the authority", text, maxSubAuthorities)
	}
	for i, p := range parts[2:] {
		bits := 32
		if i == 0 {
			bits = 48
		}
		n, err := strconv.ParseUint(p, 10, bits)
		if err != nil || strconv.FormatUint(n, 10) != p {
			return "", fmt.Errorf("parse SID %q: part %q is not a plain decimal number of %d bits", text, p, bits)
		}
	}
	return SID(text), nil
}

// Account says whether the identifier has the shape of an account or group that somebody made on a machine or in a domain. What is
// built into Windows has others, or a number below 1000.
func (s SID) Account() bool {
	parts := strings.Split(string(s), "-")
	if _, err := ParseSID(string(s)); err != nil || len(parts) != 8 || !strings.HasPrefix(string(s), "S-1-5-21-") {
		return false
	}
	n, err := strconv.ParseUint(parts[7], 10, 32)
	return err == nil && n >= 1000
}

// Beside gives the identifier that the machine or domain of s gives to number, "" when s is of none.
func (s SID) Beside(number int) SID {
	if !s.Account() {
		return ""
	}
	return SID(fmt.Sprintf("%s-%d", s[:strings.LastIndexByte(string(s), '-')], number))
}

// Bytes gives the binary form.
func (s SID) Bytes() ([]byte, error) {
	if _, err := ParseSID(string(s)); err != nil {
		return nil, err
	}
	parts := strings.Split(string(s), "-")[2:]
	b := make([]byte, 8, 8+4*(len(parts)-1))
	authority, _ := strconv.ParseUint(parts[0], 10, 48)
	binary.BigEndian.PutUint64(b, authority)
	b[0], b[1] = 1, byte(len(parts)-1)
	for _, p := range parts[1:] {
		n, _ := strconv.ParseUint(p, 10, 32)
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b, nil
}

// SIDFromBytes reads one SID at the front of b and says how many bytes it took.
func SIDFromBytes(b []byte) (SID, int, error) {
	if len(b) < 8 || b[0] != 1 || b[1] == 0 || b[1] > maxSubAuthorities || len(b) < 8+4*int(b[1]) {
		return "", 0, fmt.Errorf("read SID: %d bytes are not a revision 1 SID", len(b))
	}
	n := 8 + 4*int(b[1])
	var authority [8]byte
	copy(authority[2:], b[2:8])
	text := fmt.Sprintf("S-1-%d", binary.BigEndian.Uint64(authority[:]))
	for i := 8; i < n; i += 4 {
		text += fmt.Sprintf("-%d", binary.LittleEndian.Uint32(b[i:]))
	}
	return SID(text), n, nil
}

// ForRoot gives the identifier that belongs to one writable root and to nothing else. No account has it: it stands only in the list
// of restricting SIDs of commands that may write there, so what one session may write no other session can.
// The key is the root's canonical path on its volume, in upper case.
func ForRoot(key string) SID {
	h := sha256.Sum256([]byte("srt write root\x00" + key))
	// S-1-5-21-x-y-z-r is the shape of a machine's accounts; 124 random bits keep it apart from every real one.
	return SID(fmt.Sprintf("S-1-5-21-%d-%d-%d-%d", binary.LittleEndian.Uint32(h[0:]), binary.LittleEndian.Uint32(h[4:]),
		binary.LittleEndian.Uint32(h[8:]), binary.LittleEndian.Uint32(h[12:])|1<<31))
}
