package winapi

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

// native gives a descriptor as Windows reads it.
func native(d sd.Descriptor) (*windows.SECURITY_DESCRIPTOR, error) {
	raw, err := d.Encode()
	if err != nil {
		return nil, err
	}
	return (*windows.SECURITY_DESCRIPTOR)(unsafe.Pointer(&raw[0])), nil
}

func attributes(d sd.Descriptor, inherit bool) (*windows.SecurityAttributes, error) {
	n, err := native(d)
	if err != nil {
		return nil, err
	}
	a := &windows.SecurityAttributes{SecurityDescriptor: n}
	a.Length = uint32(unsafe.Sizeof(*a))
	if inherit {
		a.InheritHandle = 1
	}
	return a, nil
}

// getSecurity reads owner, group and access list of an open object.
func getSecurity(h windows.Handle, kind windows.SE_OBJECT_TYPE) (sd.Descriptor, error) {
	n, err := windows.GetSecurityInfo(h, kind, windows.OWNER_SECURITY_INFORMATION|windows.GROUP_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return sd.Descriptor{}, errOf(err)
	}
	d, err := sd.Decode(unsafe.Slice((*byte)(unsafe.Pointer(n)), n.Length()))
	runtime.KeepAlive(n)
	return d, err
}

// setSecurity replaces the access list of an open object, and its owner when one is named.
func setSecurity(h windows.Handle, kind windows.SE_OBJECT_TYPE, d sd.Descriptor) error {
	if d.NoDACL {
		return errors.New("an object without an access list is never wanted")
	}
	n, err := native(d)
	if err != nil {
		return err
	}
	acl, _, err := n.DACL()
	if err != nil {
		return errOf(err)
	}
	what := windows.SECURITY_INFORMATION(windows.DACL_SECURITY_INFORMATION)
	if d.Protected {
		what |= windows.PROTECTED_DACL_SECURITY_INFORMATION
	}
	var owner *windows.SID
	if d.Owner != "" {
		what |= windows.OWNER_SECURITY_INFORMATION
		if owner, err = sidPtr(d.Owner); err != nil {
			return err
		}
	}
	err = windows.SetSecurityInfo(h, kind, what, owner, nil, acl, nil)
	runtime.KeepAlive(n)
	return errOf(err)
}

// setListAlone writes one access list exactly as given, with no look at what lies above or below.
func setListAlone(h windows.Handle, d sd.Descriptor) error {
	raw, err := d.Encode()
	if err != nil {
		return err
	}
	if d.AutoInherited {
		raw[3] |= 0x01 // SE_DACL_AUTO_INHERIT_REQ: without it the mark of automatic inheritance would be dropped
	}
	err = windows.SetKernelObjectSecurity(h, windows.DACL_SECURITY_INFORMATION, (*windows.SECURITY_DESCRIPTOR)(unsafe.Pointer(&raw[0])))
	runtime.KeepAlive(raw)
	return errOf(err)
}

// Protect implements Secrets.
func (*Real) Protect(plain, entropy []byte) ([]byte, error) {
	var out windows.DataBlob
	err := windows.CryptProtectData(blob(plain), nil, blob(entropy), 0, nil, windows.CRYPTPROTECT_LOCAL_MACHINE|windows.CRYPTPROTECT_UI_FORBIDDEN, &out)
	return takeBlob(out, err)
}

// Unprotect implements Secrets.
func (*Real) Unprotect(sealed, entropy []byte) ([]byte, error) {
	var out windows.DataBlob
	err := windows.CryptUnprotectData(blob(sealed), nil, blob(entropy), 0, nil, windows.CRYPTPROTECT_UI_FORBIDDEN, &out)
	return takeBlob(out, err)
}

func blob(b []byte) *windows.DataBlob {
	if len(b) == 0 {
		return &windows.DataBlob{}
	}
	return &windows.DataBlob{Size: uint32(len(b)), Data: &b[0]}
}

func takeBlob(out windows.DataBlob, err error) ([]byte, error) {
	if err != nil {
		return nil, errOf(err)
	}
	b := append([]byte(nil), unsafe.Slice(out.Data, out.Size)...)
	clear(unsafe.Slice(out.Data, out.Size))
	_, err = windows.LocalFree(windows.Handle(unsafe.Pointer(out.Data)))
	return b, errOf(err)
}
