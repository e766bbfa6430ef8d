package rules

// Arch is an architecture that filters exist for.
type Arch struct {
	Name  string // as GOARCH spells it
	Audit uint32 // AUDIT_ARCH_* in seccomp_data.arch
	index int    // column of Call.numbers
}

// The architectures. Both are little-endian; the BPF of this package relies on it.
var (
	AMD64 = Arch{"amd64", 0xc000003e, 0}
	ARM64 = Arch{"arm64", 0xc00000b7, 1}
)

// Arches is every architecture, in a fixed order.
var Arches = []Arch{AMD64, ARM64}

// LastReviewed is the highest call number that the table's authors have looked at. A number above it (and below the x32 range)
// gets ENOSYS, as from an older kernel: programs fall back, and no new call opens a way round before somebody has read about it.
const LastReviewed = 471 // rseq_slice_yield

// X32Bit marks a call of the x32 table on amd64; such a call ends the process.
const X32Bit = 0x40000000

// Call is one system call by name, with its number on each architecture; absent where the architecture does not have it.
type Call struct {
	Name    string
	numbers [2]int
}

const absent = -1

// Number gives the call's number on a; ok is false where the architecture lacks the call.
func (c Call) Number(a Arch) (nr int, ok bool) {
	n := c.numbers[a.index]
	return n, n != absent
}

// Calls is every call that the table names. The generator compares the numbers with libseccomp's, the tests with golang.org/x/sys.
var Calls = []Call{
	//                    amd64   arm64
	{"acct", [2]int{163, 89}},
	{"add_key", [2]int{248, 217}},
	{"bind", [2]int{49, 200}},
	{"bpf", [2]int{321, 280}},
	{"clock_settime", [2]int{227, 112}},
	{"clone", [2]int{56, 220}},
	{"clone3", [2]int{435, 435}},
	{"connect", [2]int{42, 203}},
	{"creat", [2]int{85, absent}},
	{"delete_module", [2]int{176, 106}},
	{"fanotify_init", [2]int{300, 262}},
	{"finit_module", [2]int{313, 273}},
	{"fsconfig", [2]int{431, 431}},
	{"fsmount", [2]int{432, 432}},
	{"fsopen", [2]int{430, 430}},
	{"fspick", [2]int{433, 433}},
	{"init_module", [2]int{175, 105}},
	{"io_uring_enter", [2]int{426, 426}},
	{"io_uring_register", [2]int{427, 427}},
	{"io_uring_setup", [2]int{425, 425}},
	{"ioctl", [2]int{16, 29}},
	{"ioperm", [2]int{173, absent}},
	{"iopl", [2]int{172, absent}},
	{"kexec_file_load", [2]int{320, 294}},
	{"kexec_load", [2]int{246, 104}},
	{"keyctl", [2]int{250, 219}},
	{"link", [2]int{86, absent}},
	{"linkat", [2]int{265, 37}},
	{"mkdir", [2]int{83, absent}},
	{"mkdirat", [2]int{258, 34}},
	{"mknod", [2]int{133, absent}},
	{"mknodat", [2]int{259, 33}},
	{"modify_ldt", [2]int{154, absent}},
	{"mount", [2]int{165, 40}},
	{"mount_setattr", [2]int{442, 442}},
	{"move_mount", [2]int{429, 429}},
	{"open", [2]int{2, absent}},
	{"open_by_handle_at", [2]int{304, 265}},
	{"open_tree", [2]int{428, 428}},
	{"open_tree_attr", [2]int{467, 467}},
	{"openat", [2]int{257, 56}},
	{"openat2", [2]int{437, 437}},
	{"perf_event_open", [2]int{298, 241}},
	{"pivot_root", [2]int{155, 41}},
	{"quotactl", [2]int{179, 60}},
	{"quotactl_fd", [2]int{443, 443}},
	{"reboot", [2]int{169, 142}},
	{"rename", [2]int{82, absent}},
	{"renameat", [2]int{264, 38}},
	{"renameat2", [2]int{316, 276}},
	{"request_key", [2]int{249, 218}},
	{"setns", [2]int{308, 268}},
	{"settimeofday", [2]int{164, 170}},
	{"socket", [2]int{41, 198}},
	{"socketpair", [2]int{53, 199}},
	{"swapoff", [2]int{168, 225}},
	{"swapon", [2]int{167, 224}},
	{"symlink", [2]int{88, absent}},
	{"symlinkat", [2]int{266, 36}},
	{"syslog", [2]int{103, 116}},
	{"umount2", [2]int{166, 39}},
	{"unshare", [2]int{272, 97}},
	{"userfaultfd", [2]int{323, 282}},
	{"vhangup", [2]int{153, 58}},
}

// CallByName finds a call of the table.
func CallByName(name string) (Call, bool) {
	for _, c := range Calls {
		if c.Name == name {
			return c, true
		}
	}
	return Call{}, false
}

// NameOf gives the name of call nr on a, or "" when the table does not name it. For messages.
func NameOf(a Arch, nr int) string {
	for _, c := range Calls {
		if n, ok := c.Number(a); ok && n == nr {
			return c.Name
		}
	}
	return ""
}
