package escape

import (
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Calls into parts of the kernel that a command has no use for, with arguments that do nothing should they arrive: what tells is whether
// the answer is a refusal or came from the code behind it.
func init() {
	classes["kernel calls"] = class{
		settings: func(string) string { return `{"filesystem":{"allowWrite":["."]}}` },
		through:  reached,
		mayLack:  true,
		attacks:  append(kernelCalls, kernelFiles...),
	}
}

const (
	badAddress = 8 // in the first page
	badFD      = -1
)

// calling makes the attack of one call.
func calling(nr uintptr, args ...any) func(stage) (string, error) {
	return func(stage) (string, error) {
		r, err := call(nr, args...)
		return fmt.Sprint("result ", r), err
	}
}

func socket(domain, typ, proto int) func(stage) (string, error) {
	return func(stage) (string, error) {
		fd, err := unix.Socket(domain, typ, proto)
		if err == nil {
			unix.Close(fd)
		}
		return "", err
	}
}

func child(flags uintptr) func(stage) (string, error) {
	return func(stage) (string, error) {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		return "", cmd.Run()
	}
}

var kernelCalls = []attack{
	{"io_uring_setup", anybody, calling(unix.SYS_IO_URING_SETUP, 1, badAddress)},
	{"io_uring_enter", anybody, func(stage) (string, error) { // EBADF from behind
		r, err := call(unix.SYS_IO_URING_ENTER, badFD, 0, 0, 0, 0, 0)
		return fmt.Sprint(r), err
	}},
	{"io_uring_register", anybody, calling(unix.SYS_IO_URING_REGISTER, badFD, 0, 0, 0)},
	{"bpf", rootOnly, calling(unix.SYS_BPF, 0, badAddress, 8)},
	{"perf_event_open", rootOnly, calling(unix.SYS_PERF_EVENT_OPEN, badAddress, 0, -1, -1, 0)},
	{"userfaultfd", rootOnly, calling(unix.SYS_USERFAULTFD, 0x40000000)},
	{"fanotify", rootOnly, calling(unix.SYS_FANOTIFY_INIT, 0x40000000, 0)},
	{"open_by_handle_at", rootOnly, calling(unix.SYS_OPEN_BY_HANDLE_AT, badFD, badAddress, 0)},
	{"keyctl", anybody, calling(unix.SYS_KEYCTL, 0x7fff, 0, 0)},
	{"add_key", anybody, calling(unix.SYS_ADD_KEY, badAddress, badAddress, 0, 0, 0)},
	{"request_key", anybody, calling(unix.SYS_REQUEST_KEY, badAddress, badAddress, 0, 0)},
	{"kernel log", rootOnly, calling(unix.SYS_SYSLOG, 10, 0, 0)},
	{"module from a descriptor", rootOnly, calling(unix.SYS_FINIT_MODULE, badFD, badAddress, 0)},
	{"module from memory", rootOnly, calling(unix.SYS_INIT_MODULE, badAddress, 16, badAddress)},
	{"another kernel", nobody, calling(unix.SYS_KEXEC_LOAD, 0, 0, 0, 1<<30)},
	{"reboot", nobody, calling(unix.SYS_REBOOT, 0xfee1dead, 672274793, 0, 0)},
	{"swap", rootOnly, calling(unix.SYS_SWAPON, badAddress, 0)},
	{"accounting", rootOnly, func(s stage) (string, error) { _, err := call(unix.SYS_ACCT, s.Work); return "", err }},
	{"quota", rootOnly, calling(unix.SYS_QUOTACTL, 0x7fffff00, badAddress, 0, 0)},
	{"the clock", nobody, calling(unix.SYS_CLOCK_SETTIME, 0, badAddress)},
	{"the time", rootOnly, calling(unix.SYS_SETTIMEOFDAY, badAddress, badAddress)},
	{"the speed of the clock", rootOnly, func(stage) (string, error) {
		t := &unix.Timex{}
		if _, err := unix.Adjtimex(t); err != nil {
			return "", err
		}
		t.Modes = 0x4000 // ADJ_TICK, as it is
		_, err := unix.Adjtimex(t)
		return "", err
	}},
	{"the name of the machine", rootOnly, func(stage) (string, error) { return "", unix.Sethostname([]byte("attacked")) }},
	{"hang up the terminal", nobody, calling(unix.SYS_VHANGUP)},
	{"type into the terminal", anybody, calling(unix.SYS_IOCTL, badFD, unix.TIOCSTI, badAddress)},
	{"type into the terminal, upper half set", anybody, calling(unix.SYS_IOCTL, badFD, uint64(1<<32|unix.TIOCSTI), badAddress)},
	{"paste into the console", anybody, calling(unix.SYS_IOCTL, badFD, unix.TIOCLINUX, badAddress)},
	{"a line discipline", anybody, calling(unix.SYS_IOCTL, badFD, unix.TIOCSETD, badAddress)},
	{"freeze a file system", rootOnly, func(s stage) (string, error) { // thaw what is not frozen: EINVAL from behind
		return "", withOpen(s.Work, unix.O_RDONLY, func(fd int) error {
			const thaw = 0xc0045878
			_, err := call(unix.SYS_IOCTL, fd, uint64(thaw), 0)
			return err
		})
	}},

	{"unshare the user namespace", nobody, calling(unix.SYS_UNSHARE, unix.CLONE_NEWUSER)}, // a Go program has threads: EINVAL
	{"unshare the mounts", rootOnly, calling(unix.SYS_UNSHARE, unix.CLONE_NEWNS)},
	{"unshare the network", rootOnly, calling(unix.SYS_UNSHARE, unix.CLONE_NEWNET)},
	{"unshare the upper half too", rootOnly, calling(unix.SYS_UNSHARE, uint64(1<<32|unix.CLONE_NEWNET))},
	{"unshare the control group", rootOnly, calling(unix.SYS_UNSHARE, unix.CLONE_NEWCGROUP)},
	{"unshare the time", rootOnly, calling(unix.SYS_UNSHARE, unix.CLONE_NEWTIME)},
	{"a child in a user namespace", anybody, child(unix.CLONE_NEWUSER)},
	{"a child in a network", rootOnly, child(unix.CLONE_NEWNET)},
	{"clone3", anybody, calling(unix.SYS_CLONE3, badAddress, 8)},
	{"setns", anybody, calling(unix.SYS_SETNS, badFD, 0)},
	{"mount", rootOnly, calling(unix.SYS_MOUNT, badAddress, badAddress, badAddress, 0, 0)},
	{"umount", rootOnly, calling(unix.SYS_UMOUNT2, badAddress, 0)},
	{"pivot_root", rootOnly, calling(unix.SYS_PIVOT_ROOT, badAddress, badAddress)},
	{"chroot", rootOnly, func(s stage) (string, error) { return "", unix.Chroot(s.Work) }},
	{"fsopen", rootOnly, calling(unix.SYS_FSOPEN, badAddress, 0)},
	{"fsconfig", anybody, calling(unix.SYS_FSCONFIG, badFD, 0x7fff, 0, 0, 0)},
	{"fsmount", rootOnly, calling(unix.SYS_FSMOUNT, badFD, 0, 0)},
	{"fspick", rootOnly, calling(unix.SYS_FSPICK, badFD, badAddress, 0)},
	{"open_tree", anybody, calling(unix.SYS_OPEN_TREE, badFD, badAddress, 0)},
	{"move_mount", rootOnly, calling(unix.SYS_MOVE_MOUNT, badFD, badAddress, badFD, badAddress, 0)},
	{"mount_setattr", anybody, calling(unix.SYS_MOUNT_SETATTR, badFD, badAddress, 0, badAddress, 0)},

	{"a socket of the hypervisor", nobody, socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)}, // where the kernel has it
	{"a socket of packets", rootOnly, socket(unix.AF_PACKET, unix.SOCK_RAW, 0)},
	{"the old socket of packets", rootOnly, socket(unix.AF_INET, unix.SOCK_PACKET, 0)},
	{"a raw socket", rootOnly, socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)},
	{"a socket of ciphers", nobody, socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)},
	{"a socket of keys", nobody, socket(unix.AF_KEY, unix.SOCK_RAW, 2)},
	{"a netlink socket of the audit", nobody, socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)},
	{"a netlink socket of diagnosis", anybody, socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG)},
	{"a netlink socket of events", anybody, socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)},
	{"a netlink socket with the upper half set", anybody, calling(unix.SYS_SOCKET, uint64(1<<32|unix.AF_NETLINK), unix.SOCK_RAW, uint64(1<<32|unix.NETLINK_SOCK_DIAG))},

	{"a call that nobody reviewed", nobody, calling(2000)},
}

// writing opens for writing, which is a refusal or the way in; nothing is written.
func writing(name string) func(stage) (string, error) {
	return func(stage) (string, error) { return "", withOpen(name, unix.O_WRONLY, func(int) error { return nil }) }
}

func node(mode uint32, major, minor uint32) func(stage) (string, error) {
	return func(s stage) (string, error) {
		if err := unix.Mknod(s.Work+"/node", mode|0o666, int(unix.Mkdev(major, minor))); err != nil {
			return "", err
		}
		return "", withOpen(s.Work+"/node", unix.O_RDONLY|unix.O_NONBLOCK, func(int) error { return nil })
	}
}

var kernelFiles = []attack{
	{"where core files go", rootOnly, writing("/proc/sys/kernel/core_pattern")},
	{"the kernel's helper for modules", rootOnly, writing("/proc/sys/kernel/modprobe")},
	{"a setting of the network", rootOnly, writing("/proc/sys/net/ipv4/ip_forward")},
	{"the number of the next process", rootOnly, writing("/proc/sys/kernel/ns_last_pid")},
	{"magic keys", rootOnly, writing("/proc/sysrq-trigger")},
	{"interrupts", rootOnly, writing("/proc/irq/default_smp_affinity")},
	{"pressure", rootOnly, writing("/proc/pressure/cpu")},
	{"a device's power", rootOnly, writing("/sys/power/state")},
	{"events of a device", rootOnly, writing("/sys/module/kernel/uevent")},
	{"the root of the control groups", rootOnly, writing("/sys/fs/cgroup/cgroup.procs")},
	{"memory of the machine", nobody, writing("/dev/mem")},
	{"the kernel's log", rootOnly, writing("/dev/kmsg")},
	{"the shared memory of the kernel", rootOnly, func(stage) (string, error) {
		return "", withOpen("/proc/kcore", unix.O_RDONLY, func(int) error { return nil })
	}},
	{"a node of kernel messages", rootOnly, node(unix.S_IFCHR, 1, 11)},
	{"a node of memory that is null", rootOnly, node(unix.S_IFCHR, 1, 3)},
	{"a node of a disk", nobody, node(unix.S_IFBLK, 253, 0)},
}
