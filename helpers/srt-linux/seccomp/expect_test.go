package seccomp

import (
	"testing"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/bpf"
	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/rules"
)

// What a call gets in the six kinds of variants, written down without looking at the table. Each pair is without and with
// supervisor; P refuses with EPERM, N notifies, A allows, S is ENOSYS, F EAFNOSUPPORT, O EPROTONOSUPPORT, - no such call.
type expectation struct {
	amd64, arm64 int // -1: the architecture has no such call
	args         [6]uint64
	plain        string // nothing lifted
	unix         string // allowAllUnixSockets
	ns           string // allowNestedUserNamespaces
	explain      string // supervised, with Explain
}

const cloexec = 0o2000000

var expected = map[string]expectation{
	"read":                                   {0, 63, [6]uint64{}, "AA", "AA", "AA", "A"},
	"write":                                  {1, 64, [6]uint64{}, "AA", "AA", "AA", "A"},
	"execve":                                 {59, 221, [6]uint64{}, "AA", "AA", "AA", "A"},
	"ptrace":                                 {101, 117, [6]uint64{}, "AA", "AA", "AA", "A"},
	"seccomp":                                {317, 277, [6]uint64{}, "AA", "AA", "AA", "A"},
	"unlinkat":                               {263, 35, [6]uint64{}, "AA", "AA", "AA", "A"},
	"sendto":                                 {44, 206, [6]uint64{}, "AA", "AA", "AA", "A"},
	"unix stream socket":                     {41, 198, [6]uint64{1, 1}, "PA", "AA", "PA", "A"},
	"unix stream socket, close-on-exec":      {41, 198, [6]uint64{1, 1 | cloexec}, "PA", "AA", "PA", "A"},
	"unix seqpacket socket":                  {41, 198, [6]uint64{1, 5}, "PA", "AA", "PA", "A"},
	"unix datagram socket":                   {41, 198, [6]uint64{1, 2}, "PN", "AA", "PN", "N"},
	"unix datagram socket, close-on-exec":    {41, 198, [6]uint64{1, 2 | cloexec}, "PN", "AA", "PN", "N"},
	"unix raw socket":                        {41, 198, [6]uint64{1, 3}, "PN", "AA", "PN", "N"},
	"unix stream pair":                       {53, 199, [6]uint64{1, 1}, "AA", "AA", "AA", "A"},
	"unix seqpacket pair":                    {53, 199, [6]uint64{1, 5}, "AA", "AA", "AA", "A"},
	"unix datagram pair":                     {53, 199, [6]uint64{1, 2}, "PN", "AA", "PN", "N"},
	"unix datagram pair, upper half set":     {53, 199, [6]uint64{1, 1<<32 | 2}, "PN", "AA", "PN", "N"},
	"unix raw pair":                          {53, 199, [6]uint64{1, 3 | cloexec}, "PN", "AA", "PN", "N"},
	"IPv4 stream socket":                     {41, 198, [6]uint64{2, 1}, "AA", "AA", "AA", "A"},
	"IPv4 datagram socket":                   {41, 198, [6]uint64{2, 2}, "AA", "AA", "AA", "A"},
	"IPv4 socket of the packet type":         {41, 198, [6]uint64{2, 10}, "FF", "FF", "FF", "F"},
	"IPv6 stream socket":                     {41, 198, [6]uint64{10, 1}, "AA", "AA", "AA", "A"},
	"netlink route":                          {41, 198, [6]uint64{16, 3, 0}, "AA", "AA", "AA", "A"},
	"netlink sock_diag":                      {41, 198, [6]uint64{16, 3, 4}, "OO", "OO", "OO", "O"},
	"netlink audit":                          {41, 198, [6]uint64{16, 3, 9}, "OO", "OO", "OO", "O"},
	"netlink netfilter":                      {41, 198, [6]uint64{16, 3, 12}, "OO", "OO", "OO", "O"},
	"netlink, protocol -1":                   {41, 198, [6]uint64{16, 3, 0xffffffff}, "OO", "OO", "OO", "O"},
	"AF_PACKET":                              {41, 198, [6]uint64{17, 3}, "FF", "FF", "FF", "F"},
	"AF_BLUETOOTH":                           {41, 198, [6]uint64{31, 3}, "FF", "FF", "FF", "F"},
	"AF_ALG":                                 {41, 198, [6]uint64{38, 5}, "FF", "FF", "FF", "F"},
	"AF_VSOCK":                               {41, 198, [6]uint64{40, 1}, "FF", "FF", "FF", "F"},
	"AF_XDP":                                 {41, 198, [6]uint64{44, 3}, "FF", "FF", "FF", "F"},
	"AF_UNSPEC":                              {41, 198, [6]uint64{0, 1}, "FF", "FF", "FF", "F"},
	"a family of the future":                 {41, 198, [6]uint64{60, 1}, "FF", "FF", "FF", "F"},
	"AF_TIPC pair":                           {53, 199, [6]uint64{30, 1}, "FF", "FF", "FF", "F"},
	"connect":                                {42, 203, [6]uint64{}, "AN", "AA", "AN", "N"},
	"bind":                                   {49, 200, [6]uint64{}, "AN", "AN", "AN", "N"},
	"listen":                                 {50, 201, [6]uint64{}, "AA", "AA", "AA", "A"},
	"io_uring_setup":                         {425, 425, [6]uint64{}, "PP", "PP", "PP", "P"},
	"io_uring_enter":                         {426, 426, [6]uint64{}, "PP", "PP", "PP", "P"},
	"io_uring_register":                      {427, 427, [6]uint64{}, "PP", "PP", "PP", "P"},
	"fork as libc does it":                   {56, 220, [6]uint64{0x1200011}, "AA", "AA", "AA", "A"},
	"thread as libc does it":                 {56, 220, [6]uint64{0x3d0f00}, "AA", "AA", "AA", "A"},
	"vfork as Go does it":                    {56, 220, [6]uint64{0x4111}, "AA", "AA", "AA", "A"},
	"clone with a user namespace":            {56, 220, [6]uint64{0x10000011}, "PN", "PN", "AA", "N"},
	"clone with a mount namespace":           {56, 220, [6]uint64{0x20011}, "PN", "PN", "AA", "N"},
	"clone with a PID namespace, upper half": {56, 220, [6]uint64{1<<32 | 0x20000011}, "PN", "PN", "AA", "N"},
	"clone with a network namespace":         {56, 220, [6]uint64{0x40000011}, "PN", "PN", "AA", "N"},
	"clone with an odd exit signal":          {56, 220, [6]uint64{0x91}, "AA", "AA", "AA", "A"},
	"clone3":                                 {435, 435, [6]uint64{}, "SS", "SS", "AA", "S"},
	"unshare of a user namespace":            {272, 97, [6]uint64{0x10000000}, "PN", "PN", "AA", "N"},
	"unshare of a mount namespace":           {272, 97, [6]uint64{0x20000}, "PN", "PN", "AA", "N"},
	"unshare of a time namespace":            {272, 97, [6]uint64{0x80}, "PN", "PN", "AA", "N"},
	"unshare of descriptors and working dir": {272, 97, [6]uint64{0x600}, "AA", "AA", "AA", "A"},
	"setns":                                  {308, 268, [6]uint64{3, 0}, "PN", "PN", "AA", "N"},
	"mount":                                  {165, 40, [6]uint64{}, "PN", "PN", "AA", "N"},
	"umount2":                                {166, 39, [6]uint64{}, "PN", "PN", "AA", "N"},
	"pivot_root":                             {155, 41, [6]uint64{}, "PN", "PN", "AA", "N"},
	"open_tree":                              {428, 428, [6]uint64{}, "PN", "PN", "AA", "N"},
	"move_mount":                             {429, 429, [6]uint64{}, "PN", "PN", "AA", "N"},
	"fsopen":                                 {430, 430, [6]uint64{}, "PN", "PN", "AA", "N"},
	"fsconfig":                               {431, 431, [6]uint64{}, "PN", "PN", "AA", "N"},
	"fsmount":                                {432, 432, [6]uint64{}, "PN", "PN", "AA", "N"},
	"fspick":                                 {433, 433, [6]uint64{}, "PN", "PN", "AA", "N"},
	"mount_setattr":                          {442, 442, [6]uint64{}, "PN", "PN", "AA", "N"},
	"open_tree_attr":                         {467, 467, [6]uint64{}, "PN", "PN", "AA", "N"},
	"statmount":                              {457, 457, [6]uint64{}, "AA", "AA", "AA", "A"},
	"keyctl":                                 {250, 219, [6]uint64{}, "PN", "PN", "PN", "N"},
	"add_key":                                {248, 217, [6]uint64{}, "PN", "PN", "PN", "N"},
	"request_key":                            {249, 218, [6]uint64{}, "PN", "PN", "PN", "N"},
	"TCGETS":                                 {16, 29, [6]uint64{0, 0x5401}, "AA", "AA", "AA", "A"},
	"TIOCSTI":                                {16, 29, [6]uint64{0, 0x5412}, "PN", "PN", "PN", "N"},
	"TIOCSTI, upper half set":                {16, 29, [6]uint64{0, 1<<32 | 0x5412}, "PN", "PN", "PN", "N"},
	"TIOCLINUX":                              {16, 29, [6]uint64{0, 0x541c}, "PN", "PN", "PN", "N"},
	"TIOCSCTTY":                              {16, 29, [6]uint64{0, 0x540e}, "AA", "AA", "AA", "A"},
	"btrfs snapshot":                         {16, 29, [6]uint64{0, 0x50009417}, "AN", "AN", "AN", "N"},
	"bpf":                                    {321, 280, [6]uint64{}, "PN", "PN", "PN", "N"},
	"perf_event_open":                        {298, 241, [6]uint64{}, "PN", "PN", "PN", "N"},
	"userfaultfd":                            {323, 282, [6]uint64{}, "PN", "PN", "PN", "N"},
	"open_by_handle_at":                      {304, 265, [6]uint64{}, "PN", "PN", "PN", "N"},
	"name_to_handle_at":                      {303, 264, [6]uint64{}, "AA", "AA", "AA", "A"},
	"fanotify_init":                          {300, 262, [6]uint64{}, "PN", "PN", "PN", "N"},
	"inotify_init1":                          {294, 26, [6]uint64{}, "AA", "AA", "AA", "A"},
	"kexec_load":                             {246, 104, [6]uint64{}, "PN", "PN", "PN", "N"},
	"kexec_file_load":                        {320, 294, [6]uint64{}, "PN", "PN", "PN", "N"},
	"init_module":                            {175, 105, [6]uint64{}, "PN", "PN", "PN", "N"},
	"finit_module":                           {313, 273, [6]uint64{}, "PN", "PN", "PN", "N"},
	"delete_module":                          {176, 106, [6]uint64{}, "PN", "PN", "PN", "N"},
	"modify_ldt":                             {154, -1, [6]uint64{}, "PN", "PN", "PN", "N"},
	"iopl":                                   {172, -1, [6]uint64{}, "PN", "PN", "PN", "N"},
	"syslog":                                 {103, 116, [6]uint64{}, "PN", "PN", "PN", "N"},
	"reboot":                                 {169, 142, [6]uint64{}, "PN", "PN", "PN", "N"},
	"settimeofday":                           {164, 170, [6]uint64{}, "PN", "PN", "PN", "N"},
	"open for reading":                       {2, -1, [6]uint64{0, 0}, "AA", "AA", "AA", "N"},
	"open for writing":                       {2, -1, [6]uint64{0, 0o1001}, "AA", "AA", "AA", "N"},
	"open that may create":                   {2, -1, [6]uint64{0, 0o1101}, "AN", "AN", "AN", "N"},
	"openat for reading":                     {257, 56, [6]uint64{0xffffff9c, 0, 0o2000000}, "AA", "AA", "AA", "N"},
	"openat that may create":                 {257, 56, [6]uint64{0xffffff9c, 0, 0o2000101}, "AN", "AN", "AN", "N"},
	"openat that may create, upper half":     {257, 56, [6]uint64{0xffffff9c, 0, 1<<32 | 0o101}, "AN", "AN", "AN", "N"},
	"openat with O_PATH, where O_CREAT fades": {257, 56, [6]uint64{0xffffff9c, 0, 0o10000100}, "AA", "AA", "AA", "N"},
	"openat2":   {437, 437, [6]uint64{}, "AS", "AS", "AS", "S"},
	"creat":     {85, -1, [6]uint64{}, "AN", "AN", "AN", "N"},
	"mkdir":     {83, -1, [6]uint64{}, "AN", "AN", "AN", "N"},
	"mkdirat":   {258, 34, [6]uint64{}, "AN", "AN", "AN", "N"},
	"mknod":     {133, -1, [6]uint64{}, "AN", "AN", "AN", "N"},
	"mknodat":   {259, 33, [6]uint64{}, "AN", "AN", "AN", "N"},
	"rename":    {82, -1, [6]uint64{}, "AN", "AN", "AN", "N"},
	"renameat":  {264, 38, [6]uint64{}, "AN", "AN", "AN", "N"},
	"renameat2": {316, 276, [6]uint64{}, "AN", "AN", "AN", "N"},
	"link":      {86, -1, [6]uint64{}, "AN", "AN", "AN", "N"},
	"linkat":    {265, 37, [6]uint64{}, "AN", "AN", "AN", "N"},
	"symlink":   {88, -1, [6]uint64{}, "AN", "AN", "AN", "N"},
	"symlinkat": {266, 36, [6]uint64{}, "AN", "AN", "AN", "N"},
}

var letters = map[byte]rules.Verdict{
	'A': rules.Allow, 'N': rules.Notify, 'P': rules.Errno(1), 'S': rules.Errno(38), 'F': rules.Errno(97), 'O': rules.Errno(93),
}

func TestWhatEachCallGets(t *testing.T) {
	for name, e := range expected {
		t.Run(name, func(t *testing.T) {
			for o, want := range map[rules.Options]byte{
				{}:                          e.plain[0],
				{Supervised: true}:          e.plain[1],
				{AllowAllUnixSockets: true}: e.unix[0],
				{Supervised: true, AllowAllUnixSockets: true}:       e.unix[1],
				{AllowNestedUserNamespaces: true}:                   e.ns[0],
				{Supervised: true, AllowNestedUserNamespaces: true}: e.ns[1],
				{Supervised: true, Explain: true}:                   e.explain[0],
			} {
				for a, nr := range map[rules.Arch]int{rules.AMD64: e.amd64, rules.ARM64: e.arm64} {
					if nr < 0 {
						continue
					}
					d := bpf.Data{Number: uint32(nr), Arch: a.Audit, Args: e.args}
					if got := run(t, load(t, a, o), d); got != letters[want] {
						t.Errorf("%s %s: %s, want %s", a.Name, o.Name(), rules.Names(a).Verdict(uint32(got)), rules.Names(a).Verdict(uint32(letters[want])))
					}
				}
			}
		})
	}
}

// Lifting both is lifting each: no line may hang on the combination.
func TestLiftingIsIndependent(t *testing.T) {
	for name, e := range expected {
		for a, nr := range map[rules.Arch]int{rules.AMD64: e.amd64, rules.ARM64: e.arm64} {
			for i, supervised := range []bool{false, true} {
				if nr < 0 {
					continue
				}
				want := e.plain[i]
				if e.unix[i] != want {
					want = e.unix[i]
				} else if e.ns[i] != want {
					want = e.ns[i]
				}
				o := rules.Options{Supervised: supervised, AllowAllUnixSockets: true, AllowNestedUserNamespaces: true}
				if got := run(t, load(t, a, o), bpf.Data{Number: uint32(nr), Arch: a.Audit, Args: e.args}); got != letters[want] {
					t.Errorf("%s: %s %s: %#x, want %#x", name, a.Name, o.Name(), got, letters[want])
				}
			}
		}
	}
}
