package winapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

// TestInheritanceAgreesWithWindows makes objects below a directory with a known list and compares what they get with the model that
// srt spreads entries by. Wine keeps mode bits in place of lists.
func TestInheritanceAgreesWithWindows(t *testing.T) {
	if wine() {
		t.Skip("Wine keeps no access lists")
	}
	r := &Real{}
	self, err := r.UserSID()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "d")
	d := sd.Descriptor{Owner: self, Protected: true, DACL: []sd.ACE{
		{Kind: sd.Deny, Flags: sd.Inherit, Mask: sd.MaskWrite, SID: "S-1-5-21-1-2-3-1002"},
		{Flags: sd.Inherit, Mask: sd.MaskAll, SID: self},
		{Flags: sd.Inherit | sd.InheritOnly, Mask: sd.GenericAll, SID: sd.CreatorOwner},
		{Flags: sd.ObjectInherit, Mask: sd.MaskRead, SID: sd.Users},
		{Flags: sd.ContainerInherit | sd.NoPropagate, Mask: sd.MaskRead, SID: sd.Everyone},
		{Flags: sd.Inherit | sd.InheritOnly, Mask: sd.ReadControl, SID: sd.OwnerRights},
	}}
	if err := r.MakeDir(dir, d); err != nil {
		t.Fatal(err)
	}
	sub, file := filepath.Join(dir, "sub"), filepath.Join(dir, "file")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, isDir := range map[string]bool{sub: true, file: false} {
		o, err := r.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Security(o)
		if err != nil {
			t.Fatal(err)
		}
		if want := (sd.Descriptor{Owner: got.Owner, Group: got.Group, AutoInherited: got.AutoInherited}).InheritFrom(d, isDir); got.String() != want.String() {
			t.Errorf("%s\n  Windows %s\n  model   %s", path, got, want)
		}
	}
	before, err := os.ReadDir(dir)
	if err != nil || len(before) != 2 {
		t.Errorf("%v, %v", before, err)
	}
}
