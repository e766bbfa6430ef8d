package winapi

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

var (
	advapi32               = windows.NewLazySystemDLL("advapi32.dll")
	procLsaOpenPolicy      = advapi32.NewProc("LsaOpenPolicy")
	procLsaClose           = advapi32.NewProc("LsaClose")
	procLsaAddRights       = advapi32.NewProc("LsaAddAccountRights")
	procLsaRemoveRights    = advapi32.NewProc("LsaRemoveAccountRights")
	procLsaEnumerateRights = advapi32.NewProc("LsaEnumerateAccountRights")
	procLsaFreeMemory      = advapi32.NewProc("LsaFreeMemory")
	procLsaToWinError      = advapi32.NewProc("LsaNtStatusToWinError")
)

type lsaString struct {
	length, maximum uint16 // bytes
	buffer          *uint16
}

type lsaAttributes struct {
	length             uint32
	rootDirectory      windows.Handle
	objectName         *lsaString
	attributes         uint32
	securityDescriptor uintptr
	securityQuality    uintptr
}

const (
	policyViewLocal     = 0x0001
	policyCreateAccount = 0x0010
	policyLookupNames   = 0x0800
)

func lsa(r uintptr) error {
	if r == 0 {
		return nil
	}
	e, _, _ := procLsaToWinError.Call(r)
	return status(e)
}

func openPolicy(access uintptr) (windows.Handle, error) {
	attributes := lsaAttributes{length: uint32(unsafe.Sizeof(lsaAttributes{}))}
	var h windows.Handle
	r, _, _ := procLsaOpenPolicy.Call(0, uintptr(unsafe.Pointer(&attributes)), access, uintptr(unsafe.Pointer(&h)))
	return h, lsa(r)
}

// Rights implements Accounts.
func (*Real) Rights(sid sd.SID) ([]string, error) {
	s, err := sidPtr(sid)
	if err != nil {
		return nil, err
	}
	h, err := openPolicy(policyViewLocal | policyLookupNames)
	if err != nil {
		return nil, err
	}
	defer procLsaClose.Call(uintptr(h))
	var list *lsaString
	var n uint32
	r, _, _ := procLsaEnumerateRights.Call(uintptr(h), uintptr(unsafe.Pointer(s)), uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&n)))
	if err := lsa(r); errors.Is(err, ErrFileNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer procLsaFreeMemory.Call(uintptr(unsafe.Pointer(list)))
	var out []string
	for _, x := range unsafe.Slice(list, n) {
		out = append(out, windows.UTF16ToString(unsafe.Slice(x.buffer, x.length/2)))
	}
	return out, nil
}

// RightsAdd implements Accounts.
func (*Real) RightsAdd(sid sd.SID, rights []string) error {
	s, err := sidPtr(sid)
	if err != nil {
		return err
	}
	list := make([]lsaString, 0, len(rights))
	for _, r := range rights {
		u, err := windows.UTF16FromString(r)
		if err != nil {
			return errOf(err)
		}
		list = append(list, lsaString{uint16(2 * (len(u) - 1)), uint16(2 * len(u)), &u[0]})
	}
	if len(list) == 0 {
		return nil
	}
	h, err := openPolicy(policyCreateAccount | policyLookupNames)
	if err != nil {
		return err
	}
	defer procLsaClose.Call(uintptr(h))
	r, _, _ := procLsaAddRights.Call(uintptr(h), uintptr(unsafe.Pointer(s)), uintptr(unsafe.Pointer(&list[0])), uintptr(len(list)))
	return lsa(r)
}

// RightsRemoveAll implements Accounts.
func (*Real) RightsRemoveAll(sid sd.SID) error {
	s, err := sidPtr(sid)
	if err != nil {
		return err
	}
	h, err := openPolicy(policyCreateAccount | policyLookupNames)
	if err != nil {
		return err
	}
	defer procLsaClose.Call(uintptr(h))
	r, _, _ := procLsaRemoveRights.Call(uintptr(h), uintptr(unsafe.Pointer(s)), 1, 0, 0)
	if err := lsa(r); err != nil && !errors.Is(err, ErrFileNotFound) {
		return err
	}
	return nil
}
