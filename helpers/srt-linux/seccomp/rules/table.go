package rules

// action is what a line does to a call.
type action int

const (
	refuse        action = iota // EPERM. With a supervisor the call goes to it, so that the refusal is seen; it answers EPERM
	refuseQuietly               // EPERM, unseen: programs probe for it all the time
	missing                     // ENOSYS, as from a kernel without it: programs fall back
	noFamily                    // EAFNOSUPPORT, as from a kernel without the address family
	noProtocol                  // EPROTONOSUPPORT
	ask                         // the supervisor decides
)

// Error numbers, the same on both architectures.
const (
	eperm           = 1
	enosys          = 38
	eprotonosupport = 93
	eafnosupport    = 97
)

func (a action) verdict(o Options) Verdict {
	switch {
	case a == ask, a == refuse && o.Supervised:
		return Notify
	case a == missing:
		return Errno(enosys)
	case a == noFamily:
		return Errno(eafnosupport)
	case a == noProtocol:
		return Errno(eprotonosupport)
	}
	return Errno(eperm)
}

// scope says in which variants a line holds.
type scope int

const (
	always        scope = iota
	noNamespaces        // until allowNestedUserNamespaces lifts it
	unixRefused         // until allowAllUnixSockets lifts it
	unixUnwatched       // the same, and no supervisor judges paths
	unixWatched         // the same, and the supervisor judges paths
	supervised          // whenever there is a supervisor
	createWatched       // the same, but Explain watches every open anyway
	explained           // with Explain
)

func (s scope) holds(o Options) bool {
	explain := o.Supervised && o.Explain
	switch s {
	case always:
		return true
	case noNamespaces:
		return !o.AllowNestedUserNamespaces
	case unixRefused:
		return !o.AllowAllUnixSockets
	case unixUnwatched:
		return !o.AllowAllUnixSockets && !o.Supervised
	case unixWatched:
		return !o.AllowAllUnixSockets && o.Supervised
	case supervised:
		return o.Supervised
	case createWatched:
		return o.Supervised && !explain
	case explained:
		return explain
	}
	return true // a scope that is not listed lifts nothing
}

// Argument values of the kernel's interface that are the same on both architectures.
const (
	afUnix, afInet, afInet6, afNetlink = 1, 2, 10, 16

	typeMask                    = 0xf // SOCK_TYPE_MASK: the kernel takes SOCK_CLOEXEC and SOCK_NONBLOCK off first
	sockDgram, sockRaw, sockPkt = 2, 3, 10

	netlinkRoute = 0

	cloneNewTime, cloneNewNS, cloneNewCgroup, cloneNewUTS            = 0x80, 0x20000, 0x2000000, 0x4000000
	cloneNewIPC, cloneNewUser, cloneNewPID, cloneNewNet              = 0x8000000, 0x10000000, 0x20000000, 0x40000000
	oCreat, oPath                                                    = 0o100, 0o10000000
	tiocSTI, tiocLinux, tiocSetD                                     = 0x5412, 0x541c, 0x5423
	btrfsSnapCreate, btrfsSnapCreateV2                               = 0x50009401, 0x50009417
	btrfsSubvolCreate, btrfsSubvolCreateV2                           = 0x5000940e, 0x50009418
	btrfsSnapDestroy, btrfsSnapDestroyV2                             = 0x5000940f, 0x5000943f
	bcachefsSubvolCreate, bcachefsSubvolDestroy, ocfs2Reflink uint32 = 0x4020bc10, 0x4020bc11, 0x40186f04
)

type line struct {
	call string
	when []Match // all must hold; nil: every call
	do   action
	in   scope
	why  string
}

// table is the whole policy. Lines about one call must not overlap with different actions; a test sees to it.
var table = []line{
	// Sockets: only families that the sandbox has a use for; everything else is kernel code that nobody needs to reach.
	{"socket", []Match{noneOf(0, afUnix, afInet, afInet6, afNetlink)}, noFamily, always, "AF_VSOCK reaches the hypervisor, AF_ALG, AF_PACKET, AF_BLUETOOTH and the rest are attack surface"},
	{"socketpair", []Match{noneOf(0, afUnix, afInet, afInet6, afNetlink)}, noFamily, always, "as socket"},
	{"socket", []Match{is(0, afInet), under(1, typeMask, sockPkt)}, noFamily, always, "the old spelling of AF_PACKET"},
	{"socket", []Match{is(0, afNetlink), noneOf(2, netlinkRoute)}, noProtocol, always, "getifaddrs needs NETLINK_ROUTE; audit, netfilter, crypto and the rest are attack surface"},
	{"socket", []Match{is(0, afUnix), under(1, typeMask, sockDgram)}, refuse, unixWatched, "sendto names any socket of the host, and no supervisor sees it"},
	{"socket", []Match{is(0, afUnix), under(1, typeMask, sockRaw)}, refuse, unixWatched, "SOCK_RAW makes an AF_UNIX datagram socket"},
	{"socketpair", []Match{is(0, afUnix), under(1, typeMask, sockDgram)}, refuse, unixRefused, "one end of a datagram pair can sendto any socket of the host"},
	{"socketpair", []Match{is(0, afUnix), under(1, typeMask, sockRaw)}, refuse, unixRefused, "SOCK_RAW makes an AF_UNIX datagram pair"},
	{"socket", []Match{is(0, afUnix)}, refuse, unixUnwatched, "nobody judges where it would connect to"},
	{"connect", nil, ask, unixWatched, "unix sockets are opened by path"},
	{"bind", nil, ask, supervised, "a unix socket is a name in the file system, and one that later connects may reach"},

	// io_uring does sockets, opens and renames past every filter. Stays refused whatever is lifted.
	{"io_uring_setup", nil, refuseQuietly, always, "performs calls that no filter sees; libuv probes for it at every start"},
	{"io_uring_enter", nil, refuseQuietly, always, "for a ring that was inherited or received"},
	{"io_uring_register", nil, refuseQuietly, always, "for a ring that was inherited or received"},

	// Namespaces and mounts: a user namespace gives back every capability inside it, and with it the mount table.
	{"unshare", []Match{has(0, cloneNewUser)}, refuse, noNamespaces, "all capabilities in the new user namespace: mounts, netfilter, raw sockets"},
	{"unshare", []Match{has(0, cloneNewNS)}, refuse, noNamespaces, "a mount table of its own could uncover what mounts hide"},
	{"unshare", []Match{has(0, cloneNewPID)}, refuse, noNamespaces, "a PID namespace with its own /proc"},
	{"unshare", []Match{has(0, cloneNewNet)}, refuse, noNamespaces, "a network namespace to be root of"},
	{"unshare", []Match{has(0, cloneNewIPC)}, refuse, noNamespaces, "an IPC namespace to be root of"},
	{"unshare", []Match{has(0, cloneNewUTS)}, refuse, noNamespaces, "a UTS namespace to be root of"},
	{"unshare", []Match{has(0, cloneNewCgroup)}, refuse, noNamespaces, "a cgroup namespace to be root of"},
	{"unshare", []Match{has(0, cloneNewTime)}, refuse, noNamespaces, "a time namespace to be root of"},
	{"clone", []Match{has(0, cloneNewUser)}, refuse, noNamespaces, "as unshare"},
	{"clone", []Match{has(0, cloneNewNS)}, refuse, noNamespaces, "as unshare"},
	{"clone", []Match{has(0, cloneNewPID)}, refuse, noNamespaces, "as unshare"},
	{"clone", []Match{has(0, cloneNewNet)}, refuse, noNamespaces, "as unshare"},
	{"clone", []Match{has(0, cloneNewIPC)}, refuse, noNamespaces, "as unshare"},
	{"clone", []Match{has(0, cloneNewUTS)}, refuse, noNamespaces, "as unshare"},
	{"clone", []Match{has(0, cloneNewCgroup)}, refuse, noNamespaces, "as unshare (0x80, a time namespace elsewhere, is part of the exit signal here)"},
	{"clone3", nil, missing, noNamespaces, "its flags lie behind a pointer; every libc falls back to clone"},
	{"setns", nil, refuse, noNamespaces, "enters a namespace behind a descriptor"},
	{"mount", nil, refuse, noNamespaces, "changes what paths lead to"},
	{"umount2", nil, refuse, noNamespaces, "uncovers what a mount hides"},
	{"pivot_root", nil, refuse, noNamespaces, "changes what paths lead to"},
	{"open_tree", nil, refuse, noNamespaces, "new mount API: clones a mount without what covers it"},
	{"open_tree_attr", nil, refuse, noNamespaces, "the same with mount_setattr in one call (kernel 6.15)"},
	{"move_mount", nil, refuse, noNamespaces, "new mount API: attaches a mount"},
	{"fsopen", nil, refuse, noNamespaces, "new mount API: file-system parsers"},
	{"fsconfig", nil, refuse, noNamespaces, "new mount API: for a context that was received"},
	{"fsmount", nil, refuse, noNamespaces, "new mount API"},
	{"fspick", nil, refuse, noNamespaces, "new mount API: reconfigures a mounted file system"},
	{"mount_setattr", nil, refuse, noNamespaces, "makes a read-only mount writable"},

	// Keyrings are not in any namespace but the user's: the caller's keys would be readable.
	{"keyctl", nil, refuse, always, "reads and joins the caller's keyrings"},
	{"add_key", nil, refuse, always, "writes the caller's keyrings"},
	{"request_key", nil, refuse, always, "searches the caller's keyrings and starts a helper outside"},

	// The terminal of the caller outlives the command.
	{"ioctl", []Match{is(1, tiocSTI)}, refuse, always, "types into the caller's terminal"},
	{"ioctl", []Match{is(1, tiocLinux)}, refuse, always, "pastes into a console"},
	{"ioctl", []Match{is(1, tiocSetD)}, refuse, always, "loads line disciplines, a steady source of kernel bugs"},

	// Kernel facilities that have no use in a sandbox and a history of holes.
	{"bpf", nil, refuse, always, "kernel programs: verifier bugs"},
	{"perf_event_open", nil, refuse, always, "observes other processes and the kernel"},
	{"userfaultfd", nil, refuse, always, "stops the kernel in the middle of a copy: the tool of race exploits"},
	{"fanotify_init", nil, refuse, always, "reports other processes' file accesses on shared mounts; inotify stays"},
	{"open_by_handle_at", nil, refuse, always, "opens by inode number, past every path rule and mount"},
	{"syslog", nil, refuse, always, "reads the host's kernel log"},
	{"modify_ldt", nil, refuse, always, "16- and 32-bit segments: kernel bugs, and 32-bit calls are refused anyway"},
	{"kexec_load", nil, refuse, always, "boots another kernel"},
	{"kexec_file_load", nil, refuse, always, "boots another kernel"},
	{"init_module", nil, refuse, always, "loads code into the kernel"},
	{"finit_module", nil, refuse, always, "loads code into the kernel"},
	{"delete_module", nil, refuse, always, "unloads kernel code"},

	// The machine's state. The missing capability refuses these too; the filter is the second wall.
	{"iopl", nil, refuse, always, "raw input and output ports"},
	{"ioperm", nil, refuse, always, "raw input and output ports"},
	{"reboot", nil, refuse, always, "the machine's power"},
	{"swapon", nil, refuse, always, "the machine's swap"},
	{"swapoff", nil, refuse, always, "the machine's swap"},
	{"acct", nil, refuse, always, "process accounting writes a file of the caller's choice"},
	{"quotactl", nil, refuse, always, "quotas of file systems outside"},
	{"quotactl_fd", nil, refuse, always, "quotas of file systems outside"},
	{"settimeofday", nil, refuse, always, "the machine's clock"},
	{"clock_settime", nil, refuse, always, "the machine's clock"},
	{"vhangup", nil, refuse, always, "hangs up the caller's terminal"},

	// Names that come into being: the supervisor judges each (missing protected paths have nothing else to guard them).
	{"open", nil, ask, explained, "reading is judged by mounts; the supervisor only reports"},
	{"openat", nil, ask, explained, "reading is judged by mounts; the supervisor only reports"},
	{"open", []Match{under(1, oCreat|oPath, oCreat)}, ask, createWatched, "may create a name; with O_PATH the kernel ignores O_CREAT"},
	{"openat", []Match{under(2, oCreat|oPath, oCreat)}, ask, createWatched, "may create a name; with O_PATH the kernel ignores O_CREAT"},
	{"openat2", nil, missing, supervised, "its flags lie behind a pointer; every program falls back to openat"},
	{"creat", nil, ask, supervised, "creates a name"},
	{"mkdir", nil, ask, supervised, "creates a name"},
	{"mkdirat", nil, ask, supervised, "creates a name"},
	{"mknod", nil, ask, supervised, "creates a name"},
	{"mknodat", nil, ask, supervised, "creates a name"},
	{"rename", nil, ask, supervised, "creates a name and takes one away"},
	{"renameat", nil, ask, supervised, "creates a name and takes one away"},
	{"renameat2", nil, ask, supervised, "creates a name and takes one away, or swaps two"},
	{"link", nil, ask, supervised, "creates a name"},
	{"linkat", nil, ask, supervised, "creates a name, also for an O_TMPFILE"},
	{"symlink", nil, ask, supervised, "creates a name that leads elsewhere"},
	{"symlinkat", nil, ask, supervised, "creates a name that leads elsewhere"},

	// File systems that let an ordinary user create names by ioctl, where the name lies behind a pointer.
	{"ioctl", []Match{is(1, btrfsSubvolCreate)}, refuse, supervised, "btrfs: a new directory"},
	{"ioctl", []Match{is(1, btrfsSubvolCreateV2)}, refuse, supervised, "btrfs: a new directory"},
	{"ioctl", []Match{is(1, btrfsSnapCreate)}, refuse, supervised, "btrfs: a new directory with all that the source holds"},
	{"ioctl", []Match{is(1, btrfsSnapCreateV2)}, refuse, supervised, "btrfs: a new directory with all that the source holds"},
	{"ioctl", []Match{is(1, btrfsSnapDestroy)}, refuse, supervised, "btrfs: takes a directory away that may lie above a protected name"},
	{"ioctl", []Match{is(1, btrfsSnapDestroyV2)}, refuse, supervised, "btrfs: takes a directory away that may lie above a protected name"},
	{"ioctl", []Match{is(1, bcachefsSubvolCreate)}, refuse, supervised, "bcachefs: a new directory"},
	{"ioctl", []Match{is(1, bcachefsSubvolDestroy)}, refuse, supervised, "bcachefs: takes a directory away"},
	{"ioctl", []Match{is(1, ocfs2Reflink)}, refuse, supervised, "ocfs2: a new name for a copy"},
}
