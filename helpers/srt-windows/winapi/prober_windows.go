package winapi

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const dialTime = 3 * time.Second

// Dial implements Prober. A connection that is blocked fails at once.
func (*Real) Dial(to netip.AddrPort, udp bool) error {
	network := "tcp"
	if udp {
		network = "udp"
	}
	c, err := net.DialTimeout(network, to.String(), dialTime)
	if err != nil {
		if e := errOf(err); e != err {
			return e
		}
		if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
			return Errno(10060) // WSAETIMEDOUT
		}
		return err
	}
	if udp {
		if _, err := c.Write([]byte{0}); err != nil {
			return errors.Join(errOf(err), c.Close())
		}
	}
	return errOf(c.Close())
}

// Touch implements Prober. The operations are those of package selfcheck.
func (*Real) Touch(op, path string) error {
	switch op {
	case "create a file":
		return touchOpen(path, windows.GENERIC_WRITE, windows.CREATE_NEW)
	case "overwrite":
		return touchOpen(path, windows.FILE_WRITE_DATA, windows.OPEN_EXISTING)
	case "append to":
		return touchOpen(path, windows.FILE_APPEND_DATA, windows.OPEN_EXISTING)
	case "set attributes of":
		return touchOpen(path, windows.FILE_WRITE_ATTRIBUTES, windows.OPEN_EXISTING)
	case "change the access list of":
		return touchOpen(path, windows.WRITE_DAC, windows.OPEN_EXISTING)
	case "take":
		return touchOpen(path, windows.WRITE_OWNER, windows.OPEN_EXISTING)
	case "rename":
		return errOf(os.Rename(long(path), long(path+"-moved")))
	case "remove":
		return errOf(os.Remove(long(path)))
	}
	return fmt.Errorf("%q is no operation of the self-check", op)
}

// touchOpen asks for one right and gives it back at once.
func touchOpen(path string, access, how uint32) error {
	p, err := utf16(long(path))
	if err != nil {
		return errOf(err)
	}
	h, err := windows.CreateFile(p, access, shareEverything, nil, how, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return errOf(err)
	}
	return errOf(windows.CloseHandle(h))
}
