package winapi

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	fwpuclnt               = windows.NewLazySystemDLL("fwpuclnt.dll")
	procEngineOpen         = fwpuclnt.NewProc("FwpmEngineOpen0")
	procEngineClose        = fwpuclnt.NewProc("FwpmEngineClose0")
	procTxnBegin           = fwpuclnt.NewProc("FwpmTransactionBegin0")
	procTxnCommit          = fwpuclnt.NewProc("FwpmTransactionCommit0")
	procTxnAbort           = fwpuclnt.NewProc("FwpmTransactionAbort0")
	procProviderGet        = fwpuclnt.NewProc("FwpmProviderGetByKey0")
	procProviderAdd        = fwpuclnt.NewProc("FwpmProviderAdd0")
	procProviderDel        = fwpuclnt.NewProc("FwpmProviderDeleteByKey0")
	procSublayerAdd        = fwpuclnt.NewProc("FwpmSubLayerAdd0")
	procSublayerDel        = fwpuclnt.NewProc("FwpmSubLayerDeleteByKey0")
	procFilterAdd          = fwpuclnt.NewProc("FwpmFilterAdd0")
	procFilterDel          = fwpuclnt.NewProc("FwpmFilterDeleteByKey0")
	procFilterEnumCreate   = fwpuclnt.NewProc("FwpmFilterCreateEnumHandle0")
	procFilterEnum         = fwpuclnt.NewProc("FwpmFilterEnum0")
	procFilterEnumClose    = fwpuclnt.NewProc("FwpmFilterDestroyEnumHandle0")
	procSublayerEnumCreate = fwpuclnt.NewProc("FwpmSubLayerCreateEnumHandle0")
	procSublayerEnum       = fwpuclnt.NewProc("FwpmSubLayerEnum0")
	procSublayerEnumClose  = fwpuclnt.NewProc("FwpmSubLayerDestroyEnumHandle0")
	procFwpmFree           = fwpuclnt.NewProc("FwpmFreeMemory0")
)

const (
	authnDefault = 0xFFFFFFFF // RPC_C_AUTHN_DEFAULT
	enumPage     = 256
)

type firewall struct{ engine windows.Handle }

// FirewallOpen implements Firewalls.
func (*Real) FirewallOpen() (Firewall, error) {
	name, err := utf16("srt")
	if err != nil {
		return nil, errOf(err)
	}
	session := fwpmSession0{display: fwpmDisplay{name: name}, txnWait: 15000}
	var f firewall
	r, _, _ := procEngineOpen.Call(0, authnDefault, 0, uintptr(unsafe.Pointer(&session)), uintptr(unsafe.Pointer(&f.engine)))
	if err := status(r); err != nil {
		return nil, err
	}
	return &f, nil
}

func (f *firewall) Begin() error {
	r, _, _ := procTxnBegin.Call(uintptr(f.engine), 0)
	return status(r)
}

func (f *firewall) Commit() error {
	r, _, _ := procTxnCommit.Call(uintptr(f.engine))
	return status(r)
}

func (f *firewall) Abort() error {
	r, _, _ := procTxnAbort.Call(uintptr(f.engine))
	return status(r)
}

func (f *firewall) Close() error {
	r, _, _ := procEngineClose.Call(uintptr(f.engine))
	return status(r)
}

// byKey makes a call that takes the key of one thing.
func (f *firewall) byKey(proc *windows.LazyProc, key GUID, out unsafe.Pointer) error {
	g, err := guid(key)
	if err != nil {
		return err
	}
	var r uintptr
	if out == nil {
		r, _, _ = proc.Call(uintptr(f.engine), uintptr(unsafe.Pointer(&g)))
	} else {
		r, _, _ = proc.Call(uintptr(f.engine), uintptr(unsafe.Pointer(&g)), uintptr(out))
	}
	return status(r)
}

func (f *firewall) ProviderGet(key GUID) (Provider, error) {
	var p *fwpmProvider0
	if err := f.byKey(procProviderGet, key, unsafe.Pointer(&p)); err != nil {
		return Provider{}, err
	}
	defer procFwpmFree.Call(uintptr(unsafe.Pointer(&p)))
	return Provider{Key: guidText(p.key), Name: windows.UTF16PtrToString(p.display.name), Description: windows.UTF16PtrToString(p.display.description),
		Persistent: p.flags&fwpmPersistent != 0, Off: p.flags&fwpmProviderOff != 0}, nil
}

func (f *firewall) ProviderAdd(p Provider) error {
	key, err := guid(p.Key)
	if err != nil {
		return err
	}
	n := fwpmProvider0{key: key, flags: persistent(p.Persistent)}
	if n.display, err = display(p.Name, p.Description); err != nil {
		return err
	}
	r, _, _ := procProviderAdd.Call(uintptr(f.engine), uintptr(unsafe.Pointer(&n)), 0)
	runtime.KeepAlive(&n)
	return status(r)
}

func (f *firewall) ProviderDel(key GUID) error { return f.byKey(procProviderDel, key, nil) }

func (f *firewall) Sublayers() (out []Sublayer, err error) {
	err = f.each(procSublayerEnumCreate, procSublayerEnum, procSublayerEnumClose, func(p unsafe.Pointer) {
		s := (*fwpmSublayer0)(p)
		out = append(out, Sublayer{Key: guidText(s.key), Provider: guidAt(s.provider), Name: windows.UTF16PtrToString(s.display.name),
			Description: windows.UTF16PtrToString(s.display.description), Weight: s.weight, Persistent: s.flags&fwpmPersistent != 0})
	})
	return out, err
}

func (f *firewall) SublayerAdd(s Sublayer) error {
	key, err := guid(s.Key)
	if err != nil {
		return err
	}
	provider, err := guid(s.Provider)
	if err != nil {
		return err
	}
	n := fwpmSublayer0{key: key, flags: persistent(s.Persistent), provider: &provider, weight: s.Weight}
	if n.display, err = display(s.Name, s.Description); err != nil {
		return err
	}
	r, _, _ := procSublayerAdd.Call(uintptr(f.engine), uintptr(unsafe.Pointer(&n)), 0)
	runtime.KeepAlive(&n)
	return status(r)
}

func (f *firewall) SublayerDel(key GUID) error { return f.byKey(procSublayerDel, key, nil) }

func (f *firewall) FilterDel(key GUID) error { return f.byKey(procFilterDel, key, nil) }

func (f *firewall) FilterAdd(x Filter) error {
	var keep []any
	n, err := nativeFilter(x, &keep)
	if err != nil {
		return err
	}
	var id uint64
	r, _, _ := procFilterAdd.Call(uintptr(f.engine), uintptr(unsafe.Pointer(n)), 0, uintptr(unsafe.Pointer(&id)))
	runtime.KeepAlive(keep)
	runtime.KeepAlive(n)
	return status(r)
}

func (f *firewall) Filters(wanted func(provider, sublayer GUID) bool) (out []Filter, err error) {
	err = f.each(procFilterEnumCreate, procFilterEnum, procFilterEnumClose, func(p unsafe.Pointer) {
		if x := (*fwpmFilter0)(p); wanted(guidAt(x.provider), guidText(x.sublayer)) {
			out = append(out, plainFilter(x))
		}
	})
	return out, err
}

// each visits every thing of one kind.
func (f *firewall) each(create, next, end *windows.LazyProc, visit func(unsafe.Pointer)) (err error) {
	var enum windows.Handle
	r, _, _ := create.Call(uintptr(f.engine), 0, uintptr(unsafe.Pointer(&enum)))
	if err := status(r); err != nil {
		return err
	}
	defer func() {
		r, _, _ := end.Call(uintptr(f.engine), uintptr(enum))
		err = errors.Join(err, status(r))
	}()
	for {
		var list *unsafe.Pointer
		var n uint32
		r, _, _ := next.Call(uintptr(f.engine), uintptr(enum), enumPage, uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&n)))
		if err := status(r); err != nil {
			return err
		}
		for _, p := range unsafe.Slice(list, n) {
			visit(p)
		}
		procFwpmFree.Call(uintptr(unsafe.Pointer(&list)))
		if n < enumPage {
			return nil
		}
	}
}
