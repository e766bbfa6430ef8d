package supervise

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// Config is what a supervisor works with. It owns the descriptors of CreateOnce from New on, and what Serve is given.
type Config struct {
	Proc int // O_PATH descriptor of the /proc of the init's own PID namespace, in which notified thread ids count

	Rules   *Rules
	Private []string // directories that belong to this run alone (TMPDIR, /dev/shm): sequences do not count inside

	// ReadOnly and Hide put a rule beside refusals that come from mounts. They decide nothing.
	ReadOnly, Hide []view.Target

	AllowSockets    []wire.PathEntry
	AllowAllSockets bool
	CreateOnce      []CreateOnceTarget
	// NestedNamespaces says that the filter lets the command make user and mount namespaces (allowNestedUserNamespaces).
	NestedNamespaces bool
	// SamePIDs says that the command is in the init's own PID namespace: /proc/self, opened here, is the init then.
	SamePIDs bool
	Explain  bool // also report opens that mounts refuse

	// CallName names a system call for messages; nil: by number.
	CallName func(nr int) string
	// Report takes one violation. It is called from one goroutine and may be slow: what does not fit the queue is counted, not kept.
	Report func(wire.Violation)
	// Audit takes one name that the command was let create, as Report does; nil: nobody wants to know. Neither can push the other out.
	Audit func(wire.Decision)
}

// CreateOnceTarget is an allowWrite path that did not exist when the command started: its one creation goes through Parent.
type CreateOnceTarget struct {
	Path   string // where the sandbox sees it
	Parent int    // O_PATH directory descriptor of a private writable clone of the parent's mount
	// Created is called after the creation and before the command learns of it; it makes the new thing writable where the sandbox
	// sees it. It runs in a thread without capabilities and must hand the work to one that has them.
	Created func(dir bool) error
}

// maxWorkers bounds how many calls can be waiting for a disk at one time. Calls that wait for another process are parked instead.
const maxWorkers = 64

// Supervisor answers the notifications of one command's filter.
type Supervisor struct {
	cfg       Config
	listener  int    // of the command's filter
	procSelf  int    // O_PATH descriptor of Proc/self/fd
	namespace string // its mount namespace, as /proc shows it
	rules     *Rules
	moves     sync.RWMutex // see the package comment
	born      born
	left      atomic.Bool // something was made that fileplan.Leftovers may be about
	sockets   sockets
	mounts    mountList
	once      once
	parked    parked
	reports   reporter
	audits    reporter

	leader    atomic.Pointer[worker] // who receives
	handover  sync.Mutex             // held to receive, and to give the lead away: receive must never wait
	followers chan *worker           // idle, waiting to lead
	workers   atomic.Int32
	watching  atomic.Int32  // 1 while the sentinel is awake
	active    chan struct{} // wakes it
	failed    chan error
	quit      chan struct{} // closed when Serve is over
}

// New checks the configuration, in the view that the command gets. On an error nothing of Config was closed.
func New(cfg Config) (*Supervisor, error) {
	if cfg.Report == nil {
		cfg.Report = func(wire.Violation) {}
	}
	self, err := unix.Openat(cfg.Proc, "self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "open the supervisor's own descriptors", Detail: err.Error()}
	}
	var ns [64]byte
	n, err := unix.Readlinkat(cfg.Proc, "self/ns/mnt", ns[:])
	if err != nil {
		unix.Close(self)
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "find the supervisor's mount namespace", Detail: err.Error()}
	}
	s := &Supervisor{namespace: string(ns[:n]), cfg: cfg, procSelf: self, rules: cfg.Rules,
		followers: make(chan *worker, maxWorkers), active: make(chan struct{}, 1), failed: make(chan error, 1), quit: make(chan struct{})}
	err = errors.Join(s.mounts.open(cfg.Proc), s.sockets.allow(cfg.AllowSockets), s.once.add(cfg.CreateOnce), s.parked.open())
	if err != nil {
		unix.Close(self)
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	return s, nil
}
