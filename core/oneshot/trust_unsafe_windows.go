package oneshot

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/core/wire"
)

// suffix of programs.
const suffix = ".exe"

// Who may own and change srt's programs beside the user: whoever these are can change everything on the machine anyway.
var maintainers = []string{
	"S-1-5-18",     // the system
	"S-1-5-32-544", // administrators
	"S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464", // the installer of Windows
	"S-1-3-4", // the owner, who is judged apart
}

// changing are the rights with which a program, or what lies in a directory, can be replaced.
const changing = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | fileDeleteChild | windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER |
	windows.GENERIC_WRITE | windows.GENERIC_ALL

const (
	fileDeleteChild = 0x40
	allowType       = 0 // ACCESS_ALLOWED_ACE_TYPE
	denyType        = 1
)

// trusted judges a file or the directory that holds it, by its access list.
func trusted(path string, info os.FileInfo, binary bool) error {
	refuse := func(detail, hint string) error {
		return &wire.Fault{Code: wire.CodePolicy, Op: "trust", Path: path, Detail: detail, Hint: hint}
	}
	const again = "install srt again, under Program Files or in your own profile"
	switch {
	case binary && !info.Mode().IsRegular():
		return refuse("not a plain file", again)
	case !binary && !info.IsDir():
		return refuse("not a directory", again)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return refuse("who runs srt cannot be found out: "+err.Error(), "")
	}
	list, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return refuse("its access list cannot be read: "+err.Error(), again)
	}
	if who := stranger(list, append([]string{user.User.Sid.String()}, maintainers...)); who != "" {
		return refuse(who, again)
	}
	return nil
}

// stranger says who beside the known owns or can change an object; "" when nobody does.
func stranger(list *windows.SECURITY_DESCRIPTOR, known []string) string {
	isKnown := func(sid *windows.SID) bool {
		for _, k := range known {
			if sid != nil && sid.String() == k {
				return true
			}
		}
		return false
	}
	if owner, _, err := list.Owner(); err != nil || !isKnown(owner) {
		return fmt.Sprintf("it belongs to %v, who is neither you nor an administrator", owner)
	}
	acl, _, err := list.DACL()
	if err != nil || acl == nil {
		return "it has no access list: everybody may write to it"
	}
	for i := range acl.AceCount {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(acl, uint32(i), &ace); err != nil {
			return "its access list is broken: " + err.Error()
		}
		if ace.Header.AceType == denyType || ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 || ace.Mask&changing == 0 {
			continue
		}
		if ace.Header.AceType != allowType {
			return fmt.Sprintf("its access list holds an entry of kind %d, which srt cannot judge", ace.Header.AceType)
		}
		if sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart)); !isKnown(sid) {
			return fmt.Sprintf("%s may write to it", sid)
		}
	}
	return ""
}
