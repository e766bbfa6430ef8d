package winapi

import (
	"errors"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

var (
	user32                = windows.NewLazySystemDLL("user32.dll")
	procCreateStation     = user32.NewProc("CreateWindowStationW")
	procCloseStation      = user32.NewProc("CloseWindowStation")
	procGetStation        = user32.NewProc("GetProcessWindowStation")
	procSetStation        = user32.NewProc("SetProcessWindowStation")
	procCreateDesktop     = user32.NewProc("CreateDesktopW")
	procCloseDesktop      = user32.NewProc("CloseDesktop")
	procGetUserObjectInfo = user32.NewProc("GetUserObjectInformationW")
)

var errNoStation = errors.New("the window station has no name")

const (
	objectName = 2       // UOI_NAME
	stationAll = 0xF037F // what this process asks for itself: WINSTA_ALL_ACCESS and the standard rights
	desktopAll = 0xF01FF // every right on a desktop
)

type desktop struct {
	station, desk windows.Handle
	name          string
}

// NewDesktop implements Host. The station is the unnamed one of this logon (only administrators may name one), never WinSta0; its list
// is set also when an earlier run has made it. The desktop's name carries the process id, so that runs do not meet.
func (*Real) NewDesktop(station, desk sd.Descriptor) (Desktop, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sa, err := attributes(station, false)
	if err != nil {
		return nil, err
	}
	da, err := attributes(desk, false)
	if err != nil {
		return nil, err
	}
	d := &desktop{}
	r, _, callErr := procCreateStation.Call(0, 0, stationAll, uintptr(unsafe.Pointer(sa)))
	if r == 0 {
		return nil, errOf(callErr)
	}
	d.station = windows.Handle(r)
	station.Owner = ""
	if err := setSecurity(d.station, windows.SE_WINDOW_OBJECT, station); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	name, err := objectNameOf(d.station)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	old, _, callErr := procGetStation.Call()
	if old == 0 {
		return nil, errors.Join(errOf(callErr), d.Close())
	}
	if r, _, callErr = procSetStation.Call(uintptr(d.station)); r == 0 {
		return nil, errors.Join(errOf(callErr), d.Close())
	}
	own := "srt-" + strconv.FormatUint(uint64(windows.GetCurrentProcessId()), 10)
	p, err := utf16(own)
	if err == nil {
		r, _, callErr = procCreateDesktop.Call(uintptr(unsafe.Pointer(p)), 0, 0, 0, desktopAll, uintptr(unsafe.Pointer(da)))
		d.desk = windows.Handle(r)
		if r == 0 {
			err = errOf(callErr)
		}
	}
	if r, _, callErr = procSetStation.Call(old); r == 0 {
		err = errors.Join(err, errOf(callErr))
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	d.name = name + `\` + own
	return d, nil
}

func objectNameOf(h windows.Handle) (string, error) {
	buf := make([]uint16, 256)
	var n uint32
	r, _, err := procGetUserObjectInfo.Call(uintptr(h), objectName, uintptr(unsafe.Pointer(&buf[0])), uintptr(2*len(buf)), uintptr(unsafe.Pointer(&n)))
	if r == 0 {
		return "", errOf(err)
	}
	name := windows.UTF16ToString(buf)
	if name == "" {
		return "", errNoStation
	}
	return name, nil
}

// Name implements Desktop.
func (d *desktop) Name() string { return d.name }

// Close implements Desktop.
func (d *desktop) Close() error {
	var err error
	if d.desk != 0 {
		if r, _, e := procCloseDesktop.Call(uintptr(d.desk)); r == 0 {
			err = errOf(e)
		}
	}
	if r, _, e := procCloseStation.Call(uintptr(d.station)); r == 0 {
		err = errors.Join(err, errOf(e))
	}
	return err
}
