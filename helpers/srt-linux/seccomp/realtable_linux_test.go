package seccomp

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/rules"
)

func variants() []Options { return rules.Variants() }

const (
	refused = int(unix.EPERM)
	noCall  = int(unix.ENOSYS)
	fault   = int(unix.EFAULT)
	badFD   = int(unix.EBADF)
	failed  = -1
)

// What each real call gives: unconfined, and in four variants. The first column is the control: the call reaches the kernel.
var realCalls = map[string]struct{ free, unsupervised, supervised, unixLifted, nsLifted int }{
	"socket unix stream":                 {0, refused, 0, 0, refused},
	"socket unix stream, upper half set": {0, refused, 0, 0, refused},
	"socket unix dgram":                  {0, refused, refused, 0, refused},
	"socket unix raw":                    {0, refused, refused, 0, refused},
	"pair unix stream":                   {0, 0, 0, 0, 0},
	"pair unix seqpacket":                {0, 0, 0, 0, 0},
	"pair unix dgram":                    {0, refused, refused, 0, refused},
	"socket inet":                        {0, 0, 0, 0, 0},
	"socket netlink route":               {0, 0, 0, 0, 0},
	"socket netlink diag":                {0, 93, 93, 93, 93},
	"socket alg":                         {anything, 97, 97, 97, 97},
	"interfaces":                         {0, 0, 0, 0, 0},
	"connect":                            {badFD, badFD, badFD, badFD, badFD},
	"bind":                               {badFD, badFD, badFD, badFD, badFD},
	"io_uring_setup":                     {anything, refused, refused, refused, refused},
	"unshare fs":                         {0, 0, 0, 0, 0},
	"unshare user":                       {anything, failed, failed, failed, anything},
	"clone3":                             {int(unix.EINVAL), noCall, noCall, noCall, int(unix.EINVAL)},
	"setns":                              {badFD, refused, refused, refused, badFD},
	"mount":                              {fault, refused, refused, refused, fault},
	"umount2":                            {int(unix.EINVAL), refused, refused, refused, int(unix.EINVAL)},
	"fsopen":                             {anything, refused, refused, refused, anything},
	"open_tree":                          {fault, refused, refused, refused, fault},
	"open_tree_attr":                     {anything, refused, refused, refused, anything},
	"a call of the future":               {noCall, noCall, noCall, noCall, noCall},
	"keyctl":                             {anything, refused, refused, refused, refused},
	"ioctl TIOCSTI":                      {badFD, refused, refused, refused, refused},
	"ioctl TCGETS":                       {badFD, badFD, badFD, badFD, badFD},
	"bpf":                                {anything, refused, refused, refused, refused},
	"userfaultfd":                        {anything, refused, refused, refused, refused},
	"a second listener":                  {0, 0, int(unix.EBUSY), 0, 0},
	"a filter of one's own":              {0, 0, 0, 0, 0},
	"openat, creating":                   {0, 0, 0, 0, 0},
	"openat, reading":                    {0, 0, 0, 0, 0},
	"openat2":                            {fault, fault, noCall, fault, fault},
	"mkdirat":                            {fault, fault, fault, fault, fault},
	"renameat2":                          {fault, fault, refused, fault, fault},
	"linkat":                             {fault, fault, refused, fault, fault},
	"symlinkat":                          {fault, fault, refused, fault, fault},
	"exec":                               {0, 0, 0, 0, 0},
	"trace a child":                      {0, 0, 0, 0, 0},
	"clean up":                           {0, 0, 0, 0, 0},
}

const anything = -2 // depends on the kernel's configuration or on who asks

func TestRealCalls(t *testing.T) {
	for spec, want := range map[string]func(name string) int{
		"nothing":           func(n string) int { return realCalls[n].free },
		"unsupervised":      func(n string) int { return realCalls[n].unsupervised },
		"supervised":        func(n string) int { return realCalls[n].supervised },
		"unsupervised-unix": func(n string) int { return realCalls[n].unixLifted },
		"unsupervised-ns":   func(n string) int { return realCalls[n].nsLifted },
	} {
		t.Run(spec, func(t *testing.T) {
			got, err := runChild(t, spec)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Errno) != len(realCalls) {
				t.Errorf("%d calls were tried, the table has %d", len(got.Errno), len(realCalls))
			}
			for name, e := range got.Errno {
				if w := want(name); w != anything && e != w {
					t.Errorf("%s: error number %d (%v), want %d", name, e, unix.Errno(max(e, 0)), w)
				}
			}
		})
	}
}

func TestRefusalsReachTheSupervisor(t *testing.T) {
	got, err := runChild(t, "supervised")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"bind", "bpf", "clone", "connect", "ioctl", "keyctl", "linkat", "mkdirat", "mount", "open_tree", "open_tree_attr",
		"fsopen", "openat", "renameat2", "setns", "socket", "socketpair", "symlinkat", "umount2", "unshare", "userfaultfd"}
	for _, name := range want {
		if name != "clone" && !slices.Contains(got.Notified, name) {
			t.Errorf("%s was not notified", name)
		}
	}
	for _, name := range got.Notified {
		if !slices.Contains(want, name) {
			t.Errorf("%q was notified, which nobody expects", name)
		}
	}
}

func TestProgramRefuses(t *testing.T) {
	_, err := Program(Options{Explain: true})
	if err == nil || err.Error() != "filter: nobody would answer for opens: Explain needs Supervised (a bug, please report)" {
		t.Errorf("error %v", err)
	}
	if _, err := embedded("weak"); err == nil || err.Error() != `no filter named "weak" (a bug, please report): open filters/`+native.Name+`/weak.bpf: file does not exist` {
		t.Errorf("error %v", err)
	}
	for _, o := range rules.Variants() {
		p, err := Program(o)
		if err != nil || len(p) != len(load(t, native, o)) {
			t.Errorf("%s: %d instructions, %v", o.Name(), len(p), err)
		}
	}
}
