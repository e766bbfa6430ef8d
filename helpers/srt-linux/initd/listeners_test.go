package initd

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

func TestEveryAddressIsListenedOnOnce(t *testing.T) {
	for name, c := range map[string]struct {
		mirrors []string
		want    string
	}{
		"an address stands for itself":                 {[]string{"127.0.0.1:5432", "[::1]:80"}, "127.0.0.1:5432=127.0.0.1:5432 [::1]:80=[::1]:80"},
		"localhost stands for both families":           {[]string{"localhost:3000"}, "127.0.0.1:3000=localhost:3000 [::1]:3000=localhost:3000"},
		"a name below localhost too":                   {[]string{"a.localhost:3"}, "127.0.0.1:3=a.localhost:3 [::1]:3=a.localhost:3"},
		"an address before a name for the same":        {[]string{"localhost:3000", "127.0.0.1:3000"}, "127.0.0.1:3000=127.0.0.1:3000 [::1]:3000=localhost:3000"},
		"all three":                                    {[]string{"localhost:3", "127.0.0.1:3", "[::1]:3"}, "127.0.0.1:3=127.0.0.1:3 [::1]:3=[::1]:3"},
		"the first of two names":                       {[]string{"b.localhost:3", "a.localhost:3"}, "127.0.0.1:3=b.localhost:3 [::1]:3=b.localhost:3"},
		"the proxy's own address is not to be had":     {[]string{wire.LinuxProxyAddr}, ""},
		"nor by name, but for the other of the family": {[]string{"localhost:3128"}, "[::1]:3128=localhost:3128"},
	} {
		t.Run(name, func(t *testing.T) {
			all := places(wire.NetPolicy{ProxyAddr: wire.LinuxProxyAddr, Mirrors: c.mirrors})
			if len(all) == 0 || all[0] != (place{wire.LinuxProxyAddr, wire.Listener{Role: wire.RoleProxy}}) {
				t.Fatalf("the proxy does not come first: %v", all)
			}
			var got []string
			for _, p := range all[1:] {
				if p.Role != wire.RoleMirror {
					t.Errorf("%v is no mirror", p)
				}
				got = append(got, p.addr+"="+p.Target)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got %s, want %s", s, c.want)
			}
		})
	}
}

// A kernel without IPv6 has no ::1, and "localhost:PORT" is then 127.0.0.1 alone.
func TestLocalhostWithoutIPv6(t *testing.T) {
	srttest.RequireRoot(t)
	runtime.LockOSThread() // never unlocked: the thread ends with the test, and its network namespace with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/lo/disable_ipv6", []byte("1"), 0); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	bringUp(t, "lo")
	ours, theirs, err := oneshot.Pair()
	if err != nil {
		t.Fatal(err)
	}
	send, receive := oneshot.NewChannel(theirs, wire.MaxControlMessage), oneshot.NewChannel(ours, wire.MaxControlMessage)
	defer send.Close()
	defer receive.Close()
	if err := handOut(send, wire.NetPolicy{Mirrors: []string{"localhost:3000", "[::1]:80"}}); err != nil {
		t.Fatal(err)
	}
	var m wire.ControlMessage
	fds, err := receive.Recv(&m)
	oneshot.CloseAll(fds)
	if want := []wire.Listener{{Role: wire.RoleMirror, Target: "localhost:3000"}}; err != nil || len(fds) != 1 || !slices.Equal(m.Listeners, want) {
		t.Errorf("%d descriptors for %v, %v; want one for %v", len(fds), m.Listeners, err, want)
	}
}

func bringUp(t *testing.T, name string) {
	t.Helper()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	r.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r); err != nil {
		t.Fatal(err)
	}
}

func TestListenRefusesWhatIsNoAddress(t *testing.T) {
	for _, addr := range []string{"", "localhost:80", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:http"} {
		if fd, err := listen(addr); err == nil {
			t.Errorf("%q was listened on as descriptor %d", addr, fd)
		}
	}
}
