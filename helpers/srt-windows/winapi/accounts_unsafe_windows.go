package winapi

import (
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

var (
	netapi32               = windows.NewLazySystemDLL("netapi32.dll")
	procNetUserAdd         = netapi32.NewProc("NetUserAdd")
	procNetUserGetInfo     = netapi32.NewProc("NetUserGetInfo")
	procNetUserSetInfo     = netapi32.NewProc("NetUserSetInfo")
	procNetUserDel         = netapi32.NewProc("NetUserDel")
	procNetUserLocalGroups = netapi32.NewProc("NetUserGetLocalGroups")
	procNetGroupAdd        = netapi32.NewProc("NetLocalGroupAdd")
	procNetGroupDel        = netapi32.NewProc("NetLocalGroupDel")
	procNetGroupMembers    = netapi32.NewProc("NetLocalGroupGetMembers")
	procNetGroupAddMembers = netapi32.NewProc("NetLocalGroupAddMembers")
	procNetGroupDelMembers = netapi32.NewProc("NetLocalGroupDelMembers")
	procNetBufferFree      = netapi32.NewProc("NetApiBufferFree")

	userenv           = windows.NewLazySystemDLL("userenv.dll")
	procDeleteProfile = userenv.NewProc("DeleteProfileW")
)

type userInfo1 struct {
	name, password *uint16
	passwordAge    uint32
	priv           uint32
	homeDir        *uint16
	comment        *uint16
	flags          uint32
	scriptPath     *uint16
}

type userInfo1003 struct{ password *uint16 }

type userInfo1008 struct{ flags uint32 }

type groupInfo1 struct{ name, comment *uint16 }

type groupInfo0 struct{ name *uint16 }

type membersInfo0 struct{ sid *windows.SID }

const (
	userPrivUser    = 1
	maxPreferred    = 0xFFFFFFFF
	includeIndirect = 1
)

func utf16(s string) (*uint16, error) { return windows.UTF16PtrFromString(s) }

func sidPtr(s sd.SID) (*windows.SID, error) {
	p, err := windows.StringToSid(string(s))
	if err != nil {
		return nil, errOf(err)
	}
	return p, nil
}

// UserAdd implements Accounts.
func (*Real) UserAdd(u User) error {
	info := userInfo1{priv: userPrivUser, flags: u.Flags}
	for _, f := range []struct {
		to   **uint16
		from string
	}{{&info.name, u.Name}, {&info.password, u.Password}, {&info.comment, u.Comment}} {
		p, err := utf16(f.from)
		if err != nil {
			return errOf(err)
		}
		*f.to = p
	}
	r, _, _ := procNetUserAdd.Call(0, 1, uintptr(unsafe.Pointer(&info)), 0)
	return status(r)
}

// UserGet implements Accounts.
func (*Real) UserGet(name string) (User, error) {
	n, err := utf16(name)
	if err != nil {
		return User{}, errOf(err)
	}
	var info *userInfo1
	r, _, _ := procNetUserGetInfo.Call(0, uintptr(unsafe.Pointer(n)), 1, uintptr(unsafe.Pointer(&info)))
	if err := status(r); err != nil {
		return User{}, err
	}
	defer procNetBufferFree.Call(uintptr(unsafe.Pointer(info)))
	return User{Name: windows.UTF16PtrToString(info.name), Comment: windows.UTF16PtrToString(info.comment), Flags: info.flags}, nil
}

func setUser(name string, level uintptr, info unsafe.Pointer) error {
	n, err := utf16(name)
	if err != nil {
		return errOf(err)
	}
	r, _, _ := procNetUserSetInfo.Call(0, uintptr(unsafe.Pointer(n)), level, uintptr(info), 0)
	return status(r)
}

// UserSetFlags implements Accounts.
func (*Real) UserSetFlags(name string, f uint32) error {
	return setUser(name, 1008, unsafe.Pointer(&userInfo1008{f}))
}

// UserSetPassword implements Accounts.
func (*Real) UserSetPassword(name, password string) error {
	p, err := utf16(password)
	if err != nil {
		return errOf(err)
	}
	return setUser(name, 1003, unsafe.Pointer(&userInfo1003{p}))
}

// UserDel implements Accounts.
func (*Real) UserDel(name string) error {
	n, err := utf16(name)
	if err != nil {
		return errOf(err)
	}
	r, _, _ := procNetUserDel.Call(0, uintptr(unsafe.Pointer(n)))
	return status(r)
}

// GroupAdd implements Accounts.
func (*Real) GroupAdd(name, comment string) error {
	n, err := utf16(name)
	if err != nil {
		return errOf(err)
	}
	c, err := utf16(comment)
	if err != nil {
		return errOf(err)
	}
	r, _, _ := procNetGroupAdd.Call(0, 1, uintptr(unsafe.Pointer(&groupInfo1{n, c})), 0)
	return status(r)
}

// GroupDel implements Accounts.
func (*Real) GroupDel(name string) error {
	n, err := utf16(name)
	if err != nil {
		return errOf(err)
	}
	r, _, _ := procNetGroupDel.Call(0, uintptr(unsafe.Pointer(n)))
	return status(r)
}

// GroupMembers implements Accounts.
func (*Real) GroupMembers(name string) ([]sd.SID, error) {
	n, err := utf16(name)
	if err != nil {
		return nil, errOf(err)
	}
	var list *membersInfo0
	var read, total uint32
	r, _, _ := procNetGroupMembers.Call(0, uintptr(unsafe.Pointer(n)), 0, uintptr(unsafe.Pointer(&list)), maxPreferred,
		uintptr(unsafe.Pointer(&read)), uintptr(unsafe.Pointer(&total)), 0)
	if err := status(r); err != nil {
		return nil, err
	}
	defer procNetBufferFree.Call(uintptr(unsafe.Pointer(list)))
	var out []sd.SID
	for _, m := range unsafe.Slice(list, read) {
		out = append(out, sd.SID(m.sid.String()))
	}
	return out, nil
}

// GroupAddMember implements Accounts.
func (*Real) GroupAddMember(name string, member sd.SID) error {
	n, err := utf16(name)
	if err != nil {
		return errOf(err)
	}
	s, err := sidPtr(member)
	if err != nil {
		return err
	}
	r, _, _ := procNetGroupAddMembers.Call(0, uintptr(unsafe.Pointer(n)), 0, uintptr(unsafe.Pointer(&membersInfo0{s})), 1)
	return status(r)
}

// GroupDelMember implements Accounts.
func (*Real) GroupDelMember(group, member sd.SID) error {
	g, err := sidPtr(group)
	if err != nil {
		return err
	}
	name, _, _, err := g.LookupAccount("")
	if err != nil {
		return errOf(err)
	}
	n, err := utf16(name)
	if err != nil {
		return errOf(err)
	}
	s, err := sidPtr(member)
	if err != nil {
		return err
	}
	r, _, _ := procNetGroupDelMembers.Call(0, uintptr(unsafe.Pointer(n)), 0, uintptr(unsafe.Pointer(&membersInfo0{s})), 1)
	return status(r)
}

// GroupsOf implements Accounts.
func (w *Real) GroupsOf(user string) ([]sd.SID, error) {
	n, err := utf16(user)
	if err != nil {
		return nil, errOf(err)
	}
	var list *groupInfo0
	var read, total uint32
	r, _, _ := procNetUserLocalGroups.Call(0, uintptr(unsafe.Pointer(n)), 0, includeIndirect, uintptr(unsafe.Pointer(&list)), maxPreferred,
		uintptr(unsafe.Pointer(&read)), uintptr(unsafe.Pointer(&total)))
	if err := status(r); err != nil {
		return nil, err
	}
	defer procNetBufferFree.Call(uintptr(unsafe.Pointer(list)))
	var out []sd.SID
	for _, g := range unsafe.Slice(list, read) {
		sid, err := w.LookupSID(windows.UTF16PtrToString(g.name))
		if err != nil {
			return nil, err
		}
		out = append(out, sid)
	}
	return out, nil
}

// LookupSID implements Accounts: this machine's accounts first, so that a domain's of the same name is never meant.
func (*Real) LookupSID(name string) (sd.SID, error) {
	machine, err := windows.ComputerName()
	if err != nil {
		return "", errOf(err)
	}
	for _, full := range []string{machine + `\` + name, `BUILTIN\` + name} {
		sid, _, _, lookupErr := windows.LookupSID("", full)
		if lookupErr == nil {
			return sd.SID(sid.String()), nil
		}
		err = lookupErr
	}
	return "", errOf(err)
}

// ProfileDelete implements Accounts.
func (*Real) ProfileDelete(sid sd.SID) error {
	s, err := utf16(string(sid))
	if err != nil {
		return errOf(err)
	}
	if r, _, err := procDeleteProfile.Call(uintptr(unsafe.Pointer(s)), 0, 0); r == 0 {
		return errOf(err)
	}
	return nil
}
