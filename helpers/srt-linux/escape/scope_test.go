package escape

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What processes share without a file: memory, queues, names, the network; and what could stay behind.
func init() {
	classes["scope"] = class{
		settings: func(string) string { return `{"filesystem":{"allowWrite":["."]}}` },
		prepare: func(t *testing.T, s stage) {
			p := sharedMemory(s)
			if err := os.WriteFile(p, []byte(s.Secret), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Remove(p) })
			key, err := unix.AddKey("user", s.Secret, []byte("x"), unix.KEY_SPEC_USER_KEYRING)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, key, unix.KEY_SPEC_USER_KEYRING, 0, 0) })
		},
		state: func(s stage) string { return fingerprint(sharedMemory(s)) + leftBehind(s) },
		through: func(s stage, before, after string, o outcome) bool {
			return before != after || strings.Contains(o.Loot, hostSecret) || strings.Contains(o.Loot, s.Secret)
		},
		attacks: scopeAttacks,
	}
}

func sharedMemory(s stage) string {
	return "/dev/shm/srt-escape-" + strconv.Itoa(s.Host.Pid) + filepath.Base(s.Out)
}

// leftBehind names the processes of a stage that are still there.
func leftBehind(s stage) string {
	if filepath.Base(s.Work) != "a-process-that-stays" {
		return ""
	}
	left := ""
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if text := strings.ReplaceAll(string(line), "\x00", " "); strings.Contains(text, "sleep "+stays(s)) {
			left += text
			if pid, err := strconv.Atoi(e.Name()); err == nil {
				_ = unix.Kill(pid, unix.SIGKILL) // the control's
			}
		}
	}
	return left
}

// stays is a duration that no other process sleeps for.
func stays(s stage) string { return "77." + strconv.Itoa(s.Host.Pid) }

var scopeAttacks = []attack{
	{"a segment of shared memory", anybody, func(s stage) (string, error) {
		mem, err := unix.SysvShmAttach(s.Host.SysV, 0, unix.SHM_RDONLY)
		return string(mem), err
	}},
	{"the list of shared memory", nobody, func(stage) (string, error) { return read("/proc/sysvipc/shm") }},
	{"a file of shared memory", anybody, func(s stage) (string, error) { return read(sharedMemory(s)) }},
	{"write to shared memory", anybody, do(func(s stage) error { return overwrite(sharedMemory(s)) })},
	{"remove shared memory", anybody, do(func(s stage) error { return os.Remove(sharedMemory(s)) })},
	{"an abstract socket", anybody, func(s stage) (string, error) { return stream(s.Host.Abstract) }},
	{"a service on loopback", anybody, func(s stage) (string, error) { return overTCP(s.Host.TCP) }},
	{"a service on loopback, mapped", anybody, func(s stage) (string, error) {
		_, port, _ := net.SplitHostPort(s.Host.TCP)
		return overTCP("[::ffff:127.0.0.1]:" + port)
	}},
	{"a service by the unspecified address", anybody, func(s stage) (string, error) {
		_, port, _ := net.SplitHostPort(s.Host.TCP)
		return overTCP("0.0.0.0:" + port)
	}},
	{"the parent's network", rootOnly, func(s stage) (loot string, err error) {
		err = withOpen(parent("ns/net"), unix.O_RDONLY, func(ns int) error {
			if err := unix.Setns(ns, unix.CLONE_NEWNET); err != nil {
				return err
			}
			loot, err = overTCP(s.Host.TCP)
			return err
		})
		return loot, err
	}},
	{"a process that stays", anybody, do(func(s stage) error {
		return exec.Command("setsid", "sh", "-c", "trap '' HUP TERM INT; (sleep "+stays(s)+" &) & sleep 0.1").Run()
	})},
	{"a queue of messages", nobody, func(s stage) (string, error) { // the sandbox's own: it holds nothing of the host's
		return read("/proc/sysvipc/msg")
	}},
	{"interfaces of the host", nobody, func(stage) (string, error) {
		list, err := net.Interfaces()
		for _, i := range list {
			if i.Name != "lo" {
				return hostSecret + " " + i.Name, nil
			}
		}
		return "", err
	}},
	{"the names of the caller's keys", anybody, func(s stage) (string, error) { return read("/proc/keys") }},
}

func overTCP(address string) (string, error) {
	c, err := net.DialTimeout("tcp", address, 3*time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	b := make([]byte, 256)
	n, err := c.Read(b)
	return string(b[:n]), err
}
