package escape

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The victim is a process outside with a secret in its environment. Where the sandbox gives its number to nobody, the parent is tried:
// process 1 of the sandbox, which must be out of reach too.
func init() {
	classes["processes"] = class{
		settings: func(string) string { return `{}` },
		state:    stateOfVictim,
		through: func(s stage, before, after string, o outcome) bool {
			return before != after || strings.Contains(o.Loot, hostSecret) || strings.Contains(o.Loot, "TOOK EFFECT")
		},
		start: func(t *testing.T, cmd *exec.Cmd, _ string) { // a pair, as some programs use in place of pipes; its peer is this process
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			stdin := os.NewFile(uintptr(fds[0]), "pair")
			cmd.Stdin = stdin
			t.Cleanup(func() {
				stdin.Close()
				unix.Close(fds[1])
			})
		},
		attacks: append(victimAttacks, parentAttacks...),
	}
}

// stateOfVictim is what somebody with power over the victim could change.
func stateOfVictim(s stage) string {
	var b strings.Builder
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Host.Pid))
	if _, rest, ok := strings.Cut(string(stat), ") "); ok {
		f := strings.Fields(rest)
		fmt.Fprint(&b, "priority ", f[15], " nice ", f[16])
	} else {
		fmt.Fprint(&b, err)
	}
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(s.Host.Pid, &set)
	var lim unix.Rlimit
	_ = unix.Prlimit(s.Host.Pid, unix.RLIMIT_CORE, nil, &lim)
	fmt.Fprint(&b, " processors ", set.Count(), " core ", lim)
	return b.String()
}

const effect = "TOOK EFFECT"

// took makes the loot of a call that succeeds only when it acted.
func took(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return effect, nil
}

func onVictim(f func(pid int) (string, error)) func(stage) (string, error) {
	return func(s stage) (string, error) { return f(s.Host.Pid) }
}

func onParent(f func(pid int) (string, error)) func(stage) (string, error) {
	return func(stage) (string, error) { return f(os.Getppid()) }
}

var victimAttacks = []attack{
	{"read its environment", anybody, onVictim(environment)},
	{"find it among the processes", anybody, func(stage) (string, error) {
		entries, err := os.ReadDir("/proc")
		loot := ""
		for _, e := range entries {
			if text, err := os.ReadFile("/proc/" + e.Name() + "/environ"); err == nil {
				loot += string(text)
			}
		}
		return loot, err
	}},
	{"signal 0", anybody, onVictim(func(pid int) (string, error) { return took(unix.Kill(pid, 0)) })},
	{"a descriptor of it", anybody, onVictim(func(pid int) (string, error) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err == nil {
			err = unix.Close(fd)
		}
		return took(err)
	})},
	{"read its memory", anybody, onVictim(memory)},
	{"trace it", anybody, onVictim(trace)},
	{"its niceness", anybody, onVictim(func(pid int) (string, error) { return "", unix.Setpriority(unix.PRIO_PROCESS, pid, 5) })},
	{"its limits", anybody, onVictim(func(pid int) (string, error) {
		return "", unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	})},
	{"its processors", anybody, onVictim(func(pid int) (string, error) {
		var set unix.CPUSet
		set.Set(0)
		return "", unix.SchedSetaffinity(pid, &set)
	})},
	{"compare descriptors with it", anybody, onVictim(func(pid int) (string, error) {
		const file = 0
		_, err := call(unix.SYS_KCMP, os.Getpid(), pid, file, 0, 0)
		return took(err)
	})},
	{"its robust list", anybody, onVictim(func(pid int) (string, error) {
		b := make([]byte, 16)
		_, err := call(unix.SYS_GET_ROBUST_LIST, pid, b, b[8:])
		return took(err)
	})},
	{"its input and output priority", anybody, onVictim(func(pid int) (string, error) {
		_, err := call(unix.SYS_IOPRIO_SET, 1, pid, 3<<13)
		return took(err)
	})},
	{"move its pages", anybody, onVictim(func(pid int) (string, error) {
		_, err := call(unix.SYS_MOVE_PAGES, pid, 0, 0, 0, 0, 0)
		return took(err)
	})},
	{"its session", anybody, onVictim(func(pid int) (string, error) { _, err := unix.Getsid(pid); return took(err) })},
	{"signal everybody", nobody, func(stage) (string, error) { // inside it reaches nobody but the attacker; the victim is looked at
		return "", unix.Kill(-1, unix.SIGURG)
	}},
	{"signal the group of who started it", nobody, func(stage) (string, error) { return "", unix.Kill(0, unix.SIGURG) }},
	{"signal the peer of standard input", nobody, func(stage) (string, error) { // outside it would reach the test itself
		return onPeer(func(fd int) error { return unix.PidfdSendSignal(fd, 0, nil, 0) })
	}},
	{"signal the peer of standard input, as anybody", anybody, func(stage) (string, error) {
		return onPeer(func(fd int) error { return unix.PidfdSendSignal(fd, unix.SIGURG, nil, 0) })
	}},
	{"a descriptor of the peer of standard input", anybody, func(stage) (string, error) {
		return onPeer(func(fd int) error {
			got, err := unix.PidfdGetfd(fd, 0, 0)
			if err == nil {
				err = unix.Close(got)
			}
			return err
		})
	}},
	{"a namespace of the peer of standard input", nobody, func(stage) (string, error) { // before Linux 6.11 there is no such call
		const getNet = 0xff04
		return onPeer(func(fd int) error {
			ns, err := call(unix.SYS_IOCTL, fd, getNet, 0)
			if err == nil {
				err = unix.Setns(int(ns), unix.CLONE_NEWNET)
			}
			return err
		})
	}},
}

// onPeer acts on a descriptor of the process that made the other end of the standard input.
func onPeer(f func(pidfd int) error) (string, error) {
	const peerPidfd = 77 // SO_PEERPIDFD
	fd, err := unix.GetsockoptInt(0, unix.SOL_SOCKET, peerPidfd)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return took(f(fd))
}

var parentAttacks = []attack{
	{"memory of the parent", anybody, onParent(memory)},
	{"environment of the parent", anybody, onParent(func(pid int) (string, error) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && len(b) > 0 {
			return effect, nil
		}
		return "", err
	})},
	{"descriptors of the parent", anybody, onParent(func(pid int) (string, error) {
		dir := fmt.Sprintf("/proc/%d/fd/", pid)
		entries, err := os.ReadDir(dir)
		for _, e := range entries { // their numbers say nothing
			if _, err = os.Readlink(dir + e.Name()); err == nil {
				return effect, nil
			}
		}
		return "", err
	})},
	{"program of the parent", anybody, onParent(func(pid int) (string, error) {
		_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		return took(err)
	})},
	{"mappings of the parent", anybody, onParent(func(pid int) (string, error) {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		return took(err)
	})},
	{"stack of the parent", rootOnly, onParent(func(pid int) (string, error) {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/stack", pid))
		return took(err)
	})},
	{"take a descriptor of the parent", anybody, onParent(func(pid int) (string, error) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return "", err
		}
		defer unix.Close(fd)
		for n := range 512 {
			if got, err := unix.PidfdGetfd(fd, n, 0); err == nil {
				unix.Close(got)
				return effect, nil
			} else if !errors.Is(err, unix.EBADF) {
				return "", err
			}
		}
		return "", unix.EBADF
	})},
	{"advice on the parent's memory", rootOnly, onParent(func(pid int) (string, error) { // outside it needs CAP_SYS_NICE
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return "", err
		}
		defer unix.Close(fd)
		at := binaryIovec(0x10000, 4096)
		const cold = 20
		_, err = call(unix.SYS_PROCESS_MADVISE, fd, at, 1, cold, 0)
		if errors.Is(err, unix.ENOMEM) { // nothing is mapped there, but it was looked at
			err = nil
		}
		return took(err)
	})},
	{"trace the parent", nobody, onParent(trace)}, // outside it would stop the test
	{"stop the parent", nobody, onParent(func(pid int) (string, error) { // process 1 of a namespace takes no signal that it does not handle
		if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
			return "", err
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if bytes.Contains(stat, []byte(") T ")) {
			return effect, err
		}
		return "", err
	})},
	{"a way to root by a program", nobody, func(stage) (string, error) { // kept out by no-new-privs and nosuid alike
		out, err := exec.Command("/bin/sh", "-c", `for p in /usr/bin/su /bin/su /usr/bin/mount /bin/mount /usr/bin/newgrp; do
			[ -u "$p" ] && { "$p" --version </dev/null >/dev/null 2>&1; break; }; done; cat /proc/self/status`).Output()
		for line := range strings.Lines(string(out)) {
			if v, ok := strings.CutPrefix(line, "NoNewPrivs:\t"); ok && strings.TrimSpace(v) != "1" {
				return effect, err
			}
		}
		return "", err
	}},
	{"another user", rootOnly, func(stage) (string, error) {
		_, err := call(unix.SYS_SETRESUID, 12345, 12345, 12345)
		return took(err)
	}},
	{"other groups", rootOnly, func(stage) (string, error) {
		_, err := call(unix.SYS_SETGROUPS, 0, 0)
		return took(err)
	}},
	{"capabilities", rootOnly, func(stage) (string, error) {
		h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var d [2]unix.CapUserData
		if err := unix.Capget(&h, &d[0]); err != nil {
			return "", err
		}
		d[0].Effective |= 1 << unix.CAP_SYS_ADMIN
		d[0].Permitted |= 1 << unix.CAP_SYS_ADMIN
		return took(unix.Capset(&h, &d[0]))
	}},
	{"lift no-new-privs", nobody, func(stage) (string, error) { return took(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0)) }},
	{"unlock the secure bits", rootOnly, func(stage) (string, error) { return took(unix.Prctl(unix.PR_SET_SECUREBITS, 0, 0, 0, 0)) }},
	{"map more users", nobody, func(stage) (string, error) { return took(os.WriteFile("/proc/self/uid_map", []byte("1 1 1"), 0)) }},
}

func environment(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return string(b), err
}

// memory copies from a mapping of the process: by its memory file, and by the call for it.
func memory(pid int) (string, error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		at := make([]byte, 16)
		_, err2 := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &at[0], Len: 16}}, []unix.RemoteIovec{{Base: 0x400000, Len: 16}}, 0)
		if err2 == nil || errors.Is(err2, unix.EFAULT) {
			return effect, nil
		}
		return "", err
	}
	start, _, _ := strings.Cut(string(maps), "-")
	at, err := strconv.ParseInt(start, 16, 64)
	if err != nil {
		return "", err
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = f.ReadAt(make([]byte, 16), at)
	return took(err)
}

func trace(pid int) (string, error) {
	err := unix.PtraceSeize(pid)
	if err == nil {
		_ = unix.PtraceInterrupt(pid)
		_ = unix.PtraceDetach(pid)
	}
	return took(err)
}
