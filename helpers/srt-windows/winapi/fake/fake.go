// Package fake is a Windows in memory, for tests: accounts, registry, sealed secrets, the filtering platform with transactions and an
// NTFS with inheritance, each answering with the error numbers of the real one. Any call can be made to fail, once or from there on.
// It is linked into no program, and it must never be kinder than Windows: what is not modelled fails.
package fake

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// ErrInjected is what a call returns that was made to fail.
var ErrInjected = errors.New("injected failure")

// Accounts that every fake machine has.
const (
	Machine  = "S-1-5-21-100-200-300"
	Alice    = sd.SID(Machine + "-1001") // the caller
	Bob      = sd.SID(Machine + "-1002")
	firstRID = 1010
)

// Windows is one machine. The zero value is not usable; New makes one.
type Windows struct {
	mu sync.Mutex

	Caller     sd.SID
	IsElevated bool
	Pid        uint32
	Dead       map[uint32]bool // processes that ended
	Running    map[uint32]sd.SID
	procs      map[uint32]*Proc

	Launch     Launch
	Interrupts []string // what Interrupt was asked for
	lastPid    uint32
	pipes      []*pipe

	// FailAt makes the call of that number (from 1) fail; with Die, every later one too, as after a crash. AfterEffect makes it fail
	// after it has done its work, as when the answer is lost.
	FailAt      int
	Die         bool
	AfterEffect bool
	Calls       []string

	users    map[string]*account
	groups   map[string]*group
	rights   map[sd.SID][]string
	profiles map[sd.SID]bool
	nextRID  int

	keys map[string]*key

	fwCommitted, fwOpen *platform

	root   *node
	nextID uint64
	short  map[string]string // 8.3 name → long name, both upper case components
	fsKind map[string]string // volume root → file system
}

// New gives a machine with the users alice and bob, an NTFS volume C: and the usual directories. The caller is alice, not elevated.
func New() *Windows {
	w := &Windows{
		Caller: Alice, Pid: 100, Dead: map[uint32]bool{}, Running: map[uint32]sd.SID{}, procs: map[uint32]*Proc{},
		users: map[string]*account{}, groups: map[string]*group{}, rights: map[sd.SID][]string{}, profiles: map[sd.SID]bool{}, nextRID: firstRID,
		keys: map[string]*key{}, fwCommitted: newPlatform(), short: map[string]string{}, fsKind: map[string]string{`C:\`: "NTFS"},
	}
	w.users["alice"] = &account{sid: Alice, User: winapi.User{Name: "alice", Flags: 0x10201}}
	w.users["bob"] = &account{sid: Bob, User: winapi.User{Name: "bob", Flags: 0x10201}}
	w.groups["users"] = &group{name: "Users", sid: sd.Users, members: []sd.SID{sd.Interactive, sd.AuthenticatedUsers}}
	w.groups["administrators"] = &group{name: "Administrators", sid: sd.Administrators, members: []sd.SID{Alice}}
	w.keys["SOFTWARE"] = &key{security: machineKey(), values: map[string]winapi.Value{}}
	w.keys[`SOFTWARE\MICROSOFT\WINDOWS NT\CURRENTVERSION\WINLOGON`] = &key{security: machineKey(), values: map[string]winapi.Value{}}
	w.layFiles()
	return w
}

// call counts one call and says whether it fails. The caller holds the lock.
func (w *Windows) call(format string, args ...any) error {
	w.Calls = append(w.Calls, fmt.Sprintf(format, args...))
	if w.fails() && !w.AfterEffect {
		return ErrInjected
	}
	return nil
}

// done is the second half of call: the answer of a call that has had its effect.
func (w *Windows) done(err error) error {
	if err == nil && w.fails() && w.AfterEffect {
		return ErrInjected
	}
	return err
}

func (w *Windows) fails() bool {
	n := len(w.Calls)
	return w.FailAt > 0 && (n == w.FailAt || w.Die && n > w.FailAt)
}

// Revive ends a crash: calls work again, under a new process id; the old process is dead.
func (w *Windows) Revive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.FailAt, w.Die, w.AfterEffect, w.Calls = 0, false, false, nil
	w.fwOpen = nil // the platform aborts a transaction whose session is gone
	w.Dead[w.Pid] = true
	w.Pid++
}

func (w *Windows) admin() error {
	if !w.IsElevated {
		return winapi.ErrAccessDenied
	}
	return nil
}

// token is the caller's, for access checks.
func (w *Windows) token() sd.Token {
	t := sd.Token{User: w.Caller, Groups: []sd.SID{sd.Everyone, sd.Users, sd.AuthenticatedUsers, sd.Interactive, sd.LocalAccount}}
	if w.IsElevated {
		t.Groups = append(t.Groups, sd.Administrators)
	} else {
		t.DenyOnly = []sd.SID{sd.Administrators}
	}
	return t
}

// UserSID implements winapi.Self.
func (w *Windows) UserSID() (sd.SID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Caller, w.call("UserSID")
}

// Elevated implements winapi.Self.
func (w *Windows) Elevated() (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.IsElevated, w.call("Elevated")
}

// ProcessAlive implements winapi.Self. Every process of the fake was started at its pid × 10.
func (w *Windows) ProcessAlive(pid uint32, started uint64) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("ProcessAlive %d", pid); err != nil {
		return false, err
	}
	return !w.Dead[pid] && started == uint64(pid)*10, nil
}

// ProcessIdentity implements winapi.Self.
func (w *Windows) ProcessIdentity() (uint32, uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Pid, uint64(w.Pid) * 10, w.call("ProcessIdentity")
}

// ProgramData implements winapi.Self.
func (w *Windows) ProgramData() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return `C:\ProgramData`, w.call("ProgramData")
}

// Executable implements winapi.Self.
func (w *Windows) Executable() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return `C:\Program Files\srt\srt-windows.exe`, w.call("Executable")
}

// LogonSIDs implements winapi.Self.
func (w *Windows) LogonSIDs() ([]sd.SID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return []sd.SID{CallerLogon}, w.call("LogonSIDs")
}

// ProcessesOf implements winapi.Self.
func (w *Windows) ProcessesOf(sid sd.SID) ([]uint32, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("ProcessesOf %s", sid); err != nil {
		return nil, err
	}
	var out []uint32
	for pid, owner := range w.Running {
		if owner == sid && !w.Dead[pid] {
			out = append(out, pid)
		}
	}
	return out, nil
}

// Terminate implements winapi.Self.
func (w *Windows) Terminate(pid uint32) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("Terminate %d", pid); err != nil {
		return err
	}
	if _, ok := w.Running[pid]; !ok || w.Dead[pid] {
		return winapi.ErrFileNotFound
	}
	if err := w.admin(); err != nil {
		return err
	}
	w.Dead[pid] = true
	return w.done(nil)
}

// Protect implements winapi.Secrets: readable by whoever holds the bytes on this machine, as with machine scope.
func (w *Windows) Protect(plain, entropy []byte) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("Protect"); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "sealed %x %x", entropy, plain), w.done(nil)
}

// Unprotect implements winapi.Secrets.
func (w *Windows) Unprotect(sealed, entropy []byte) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("Unprotect"); err != nil {
		return nil, err
	}
	var e, p []byte
	if n, err := fmt.Sscanf(string(sealed), "sealed %x %x", &e, &p); n != 2 || err != nil || string(e) != string(entropy) {
		return nil, winapi.Errno(13) // ERROR_INVALID_DATA
	}
	return p, nil
}

// upper folds case as a file system does that leaves a long s alone.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 'ſ' {
			return r
		}
		return unicode.ToUpper(r)
	}, s)
}

var _ winapi.System = (*Windows)(nil)
