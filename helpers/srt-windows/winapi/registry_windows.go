package winapi

import (
	"errors"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

const view64 = registry.WOW64_64KEY

// KeyCreate implements Registry.
func (*Real) KeyCreate(path string, d sd.Descriptor) error {
	k, _, err := registry.CreateKey(registry.LOCAL_MACHINE, path, registry.READ|registry.WRITE|windows.WRITE_DAC|windows.WRITE_OWNER|view64)
	if err != nil {
		return errOf(err)
	}
	return errors.Join(setSecurity(windows.Handle(k), windows.SE_REGISTRY_KEY, d), errOf(k.Close()))
}

// KeySecurity implements Registry.
func (*Real) KeySecurity(path string) (sd.Descriptor, error) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, path, windows.READ_CONTROL|view64)
	if err != nil {
		return sd.Descriptor{}, errOf(err)
	}
	defer k.Close()
	return getSecurity(windows.Handle(k), windows.SE_REGISTRY_KEY)
}

// KeyDelete implements Registry.
func (w *Real) KeyDelete(path string) error {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.ENUMERATE_SUB_KEYS|view64)
	if err != nil {
		return errOf(err)
	}
	names, err := k.ReadSubKeyNames(-1)
	if err := errors.Join(errOf(err), errOf(k.Close())); err != nil {
		return err
	}
	for _, n := range names {
		if err := w.KeyDelete(path + `\` + n); err != nil {
			return err
		}
	}
	return errOf(registry.DeleteKey(registry.LOCAL_MACHINE, path)) // a 64-bit process sees the 64-bit view
}

// ValueGet implements Registry.
func (*Real) ValueGet(path, name string) (Value, error) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE|view64)
	if err != nil {
		return Value{}, errOf(err)
	}
	defer k.Close()
	_, kind, err := k.GetValue(name, nil)
	if err != nil {
		return Value{}, errOf(err)
	}
	v := Value{Kind: int(kind)}
	switch kind {
	case registry.SZ:
		v.String, _, err = k.GetStringValue(name)
	case registry.BINARY:
		v.Binary, _, err = k.GetBinaryValue(name)
	case registry.DWORD:
		var n uint64
		n, _, err = k.GetIntegerValue(name)
		v.Number = uint32(n)
	default:
		return Value{}, Errno(13)
	}
	return v, errOf(err)
}

// ValueSet implements Registry.
func (*Real) ValueSet(path, name string, v Value) error {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.SET_VALUE|view64)
	if err != nil {
		return errOf(err)
	}
	defer k.Close()
	switch v.Kind {
	case KindString:
		return errOf(k.SetStringValue(name, v.String))
	case KindBinary:
		return errOf(k.SetBinaryValue(name, v.Binary))
	case KindNumber:
		return errOf(k.SetDWordValue(name, v.Number))
	}
	return Errno(13)
}

// ValueDelete implements Registry.
func (*Real) ValueDelete(path, name string) error {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.SET_VALUE|view64)
	if err != nil {
		return errOf(err)
	}
	defer k.Close()
	return errOf(k.DeleteValue(name))
}
