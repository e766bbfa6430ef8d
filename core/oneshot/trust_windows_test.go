package oneshot

import (
	"errors"
	"testing"

	"golang.org/x/sys/windows"
)

// TestStranger: whoever could change srt's programs could run as the user, outside the sandbox.
func TestStranger(t *testing.T) {
	const me = "S-1-5-21-1-2-3-1001"
	for name, c := range map[string]struct{ sddl, want string }{
		"Program Files":                       {"O:S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464D:(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;BU)(A;OICIIO;GA;;;CO)(A;;0x1200a9;;;AC)", ""},
		"my own":                              {"O:" + me + "D:(A;;FA;;;" + me + ")(A;;0x1200a9;;;WD)", ""},
		"denied to others is fine":            {"O:BAD:(D;;FA;;;WD)(A;;FA;;;BA)", ""},
		"owned by another":                    {"O:S-1-5-21-1-2-3-1002D:(A;;FA;;;BA)", "it belongs to S-1-5-21-1-2-3-1002, who is neither you nor an administrator"},
		"a folder made under C:":              {"O:BAD:(A;;FA;;;BA)(A;;0x1301bf;;;AU)", "S-1-5-11 may write to it"},
		"users may add files":                 {"O:BAD:(A;;FA;;;BA)(A;;0x2;;;BU)", "S-1-5-32-545 may write to it"},
		"users may add folders":               {"O:BAD:(A;;FA;;;BA)(A;;0x4;;;BU)", "S-1-5-32-545 may write to it"},
		"another may remove":                  {"O:BAD:(A;;FA;;;BA)(A;;SD;;;WD)", "S-1-1-0 may write to it"},
		"another may remove what lies within": {"O:BAD:(A;;FA;;;BA)(A;;0x40;;;WD)", "S-1-1-0 may write to it"},
		"another may change the list":         {"O:BAD:(A;;FA;;;BA)(A;;WD;;;BU)", "S-1-5-32-545 may write to it"},
		"another may take it":                 {"O:BAD:(A;;FA;;;BA)(A;;WO;;;BU)", "S-1-5-32-545 may write to it"},
		"everything by a generic right":       {"O:BAD:(A;;GA;;;BU)", "S-1-5-32-545 may write to it"},
	} {
		d, err := windows.SecurityDescriptorFromString(c.sddl)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := stranger(d, append([]string{me}, maintainers...)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	d, err := windows.NewSecurityDescriptor()
	if err != nil {
		t.Fatal(err)
	}
	owner, err := windows.StringToSid(me)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.SetOwner(owner, false), d.SetDACL(nil, true, false)); err != nil {
		t.Fatal(err)
	}
	if got := stranger(d, []string{me}); got != "it has no access list: everybody may write to it" {
		t.Errorf("no list: got %q", got)
	}
}
