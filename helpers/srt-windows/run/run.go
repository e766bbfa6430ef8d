// Package run is one command from request to exit status: it checks the installation, puts the planned entries on the user's files,
// makes the run's own folders, lets the self-check decide, runs, and takes everything away again, also when a step fails. What a killed
// run left is taken away by the next. It must never run a command that the self-check has not passed.
package run

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/acl"
	"github.com/srt-dev/srt/helpers/srt-windows/journal"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/selfcheck"
	"github.com/srt-dev/srt/helpers/srt-windows/setup"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// Machine is what a run needs.
type Machine struct {
	Sys    winapi.System
	Host   winapi.Host
	Store  journal.Store
	Random io.Reader
	// Listen opens a loopback listener on a port in [low, high], or outside of it when outside is set.
	Listen func(low, high int, outside bool) (netip.AddrPort, io.Closer, error)
	// Own are folders of srt's that exist and that no command may change, whatever the settings let it write: with another journal a command
	// could have srt take entries off the user's files.
	Own []string
	// Touch makes an empty file in a folder of the run's own.
	Touch func(path string) error
}

// Streams are the command's, and whether they are a terminal.
type Streams struct {
	Files    [3]winapi.Stream
	Terminal bool
	Size     runas.Size
	Control  <-chan runas.Message
	Started  func()
	Abort    <-chan struct{} // closes when srt has ended

	blame func(*wire.Fault)
}

// Result is how a command ended.
type Result struct {
	Code     uint32
	Warnings []string
	Report   []string    // protected names that the command made
	Blame    *wire.Fault // why it failed, where that is known
}

// session is one run, or one check.
type session struct {
	m       Machine
	rec     setup.Record
	user    sd.SID
	holder  journal.Holder
	id      string
	folder  string
	runRoot sd.SID
	proxy   netip.AddrPort // where the command's own proxy listens; zero when there is none
	undo    []func() error
}

func open(m Machine) (*session, error) {
	rec, err := setup.Ready(m.Sys)
	if err != nil {
		return nil, err
	}
	s := &session{m: m, rec: rec}
	if s.user, err = m.Sys.UserSID(); err != nil {
		return nil, fmt.Errorf("find out who runs this: %w", err)
	}
	pid, started, err := m.Sys.ProcessIdentity()
	if err != nil {
		return nil, fmt.Errorf("find out which process this is: %w", err)
	}
	s.holder = journal.Holder{Pid: uint64(pid), Started: started}
	return s, nil
}

// close takes everything back, the last first, whatever fails on the way.
func (s *session) close() error {
	var err error
	for i := len(s.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, s.undo[i]())
	}
	return err
}

// Command runs one command.
func Command(m Machine, req wire.LaunchRequest, st Streams) (res Result, err error) {
	s, err := open(m)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := checkRequest(s.rec, req); err != nil {
		return res, err
	}
	if err := s.makeFolders(); err != nil {
		return res, err
	}
	j := journal.New(m.Sys, m.Store)
	s.undo = append(s.undo, func() error { return j.Release(s.holder) })
	var files acl.Request
	var plan acl.Plan
	if res.Warnings, err = j.Acquire(s.holder, func() (acl.Plan, error) {
		var err error
		files, plan, err = s.plan(req)
		return plan, err
	}); err != nil {
		return res, err
	}
	own := runas.Own{Tmp: s.tmp(), Home: s.home()}
	if plan.HomeOpen {
		own.Home = ""
	}
	env, err := runas.Environment(req.Command.Env, own, s.rec.User)
	if err != nil {
		return res, &wire.Fault{Code: wire.CodePolicy, Op: "build the environment", Detail: err.Error()}
	}
	roots := []sd.SID{}
	for _, r := range plan.Roots {
		roots = append(roots, r.SID)
	}
	prepare := runas.Prepare{Argv: req.Command.Argv, Env: env, Dir: req.Command.Dir, Roots: roots, Terminal: st.Terminal, Size: st.Size}
	if req.Network.ProxyAddr != "" {
		s.proxy = netip.MustParseAddrPort(req.Network.ProxyAddr) // checkRequest has read it
	}
	st.blame = func(f *wire.Fault) { res.Blame = f }
	res.Code, err = s.start(prepare, st, func(_ []wire.CheckItem, err error) error { return err })
	if err != nil {
		return res, err
	}
	res.Report, err = acl.Appeared(m.Sys, files, plan)
	return res, err
}

// plan plans the files of a request.
func (s *session) plan(req wire.LaunchRequest) (acl.Request, acl.Plan, error) {
	self, err := s.m.Sys.Executable()
	if err != nil {
		return acl.Request{}, acl.Plan{}, fmt.Errorf("find this program: %w", err)
	}
	r := acl.Request{Files: req.Files, Dir: req.Command.Dir, Home: req.Host.Home, Who: acl.Who{Caller: s.user, Account: s.rec.UserSID, Group: s.rec.GroupSID}}
	r.Files.AllowRead = append(slices.Clone(r.Files.AllowRead), wire.PathEntry{Path: self, Rule: "srt's own helper"})
	for _, own := range s.m.Own {
		r.Files.DenyWrite = append(slices.Clone(r.Files.DenyWrite), wire.PathEntry{Path: own, Rule: "srt's own records"})
	}
	p, err := acl.Make(s.m.Sys, r)
	return r, p, err
}

// Plan judges a request without changing anything, for the contract's verb and for --dry-run.
func Plan(m Machine, req wire.LaunchRequest) (acl.Plan, error) {
	s, err := open(m)
	if err != nil {
		return acl.Plan{}, err
	}
	if err := checkRequest(s.rec, req); err != nil {
		return acl.Plan{}, err
	}
	_, p, err := s.plan(req)
	return p, err
}

// Check makes the self-check without a command.
func Check(m Machine) (items []wire.CheckItem, err error) {
	s, err := open(m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.makeFolders(); err != nil {
		return nil, err
	}
	var failed error
	_, err = s.start(runas.Prepare{Argv: []string{"none"}, Env: []string{}, Dir: s.folder, Roots: []sd.SID{}}, Streams{},
		func(i []wire.CheckItem, err error) error {
			items, failed = i, err
			return errNoCommand // the check is all that was wanted
		})
	if errors.Is(err, errNoCommand) {
		err = nil
	}
	return items, errors.Join(failed, err)
}

var errNoCommand = errors.New("there is no command to run")

// start opens the self-check's listeners, hands over, and judges. decide has the last word on whether the command runs. The port that must
// be reached is the command's own proxy where there is one: that proves what counts, and leaves the few ports of the range to commands.
func (s *session) start(p runas.Prepare, st Streams, decide func([]wire.CheckItem, error) error) (code uint32, err error) {
	place := selfcheck.Place{Loopback: s.rec.Loopback, Canary: s.canary(), Tmp: s.tmp(), Inside: s.proxy}
	for _, l := range []struct {
		to      *netip.AddrPort
		outside bool
	}{{&place.Inside, false}, {&place.Outside, true}} {
		if l.to.IsValid() {
			continue
		}
		at, closer, err := s.m.Listen(s.rec.Low, s.rec.High, l.outside)
		if err != nil {
			return 0, fmt.Errorf("open a port for the self-check: %w", err)
		}
		*l.to = at
		defer func() { err = errors.Join(err, closer.Close()) }()
	}
	questions := selfcheck.Plan(place)
	if p.Check, err = wire.Encode(questions); err != nil {
		return 0, err
	}
	p.Own = s.runRoot
	callers, err := s.m.Sys.LogonSIDs()
	if err != nil {
		return 0, fmt.Errorf("ask for the logon identifiers: %w", err)
	}
	p.Callers = append([]sd.SID{}, callers...)
	password, err := setup.Password(s.m.Sys)
	if err != nil {
		return 0, err
	}
	self, err := s.m.Sys.Executable()
	if err != nil {
		return 0, fmt.Errorf("find this program: %w", err)
	}
	return runas.Exec{Host: s.m.Host, Random: s.m.Random, Self: self, Pid: uint32(s.holder.Pid), User: s.user, Account: s.rec.UserSID,
		Name: s.rec.User, Password: password, Group: s.rec.GroupSID, Prepare: p, Streams: st.Files, Control: st.Control, Started: st.Started, Abort: st.Abort, Blame: st.blame,
		Judge: func(r runas.Ready) error {
			var report selfcheck.Report
			if err := wire.Decode(r.Report, wire.MaxMessage, &report); err != nil {
				return decide(nil, err)
			}
			return decide(selfcheck.Judge(questions, report, runas.Token(r.Half, p.Own, p.Roots, p.Callers), s.rec.UserSID, s.rec.GroupSID))
		}}.Run()
}

// checkRequest refuses what the installation does not offer.
func checkRequest(rec setup.Record, req wire.LaunchRequest) error {
	switch {
	case len(req.Command.PassFDs) > 0:
		return &wire.Fault{Code: wire.CodeUnsupported, Op: "run", Detail: "descriptors cannot be handed on by number on Windows"}
	case req.Network.AllowLocalBinding != rec.Loopback:
		return &problem.Error{Code: problem.Differs, Op: "run", Path: "network.allowLocalBinding",
			Detail: fmt.Sprintf("the settings say %v, the fence was installed with %v, and it is one for the whole machine", req.Network.AllowLocalBinding, rec.Loopback),
			Fix:    "srt-windows install --force " + map[bool]string{true: "--allow-loopback", false: "(without --allow-loopback)"}[req.Network.AllowLocalBinding]}
	}
	if err := sameInstallation(rec, req.Host.Windows); err != nil {
		return err
	}
	if _, err := winpath.Clean(req.Command.Dir); err != nil {
		return &wire.Fault{Code: wire.CodePolicy, Op: "enter the working directory", Path: req.Command.Dir, Detail: err.Error(), Hint: "start srt from a folder on a local drive"}
	}
	if req.Network.ProxyAddr == "" {
		return nil
	}
	at, err := netip.ParseAddrPort(req.Network.ProxyAddr)
	if err != nil || at.Addr() != netip.MustParseAddr("127.0.0.1") || int(at.Port()) < rec.Low || int(at.Port()) > rec.High {
		return &wire.Fault{Code: wire.CodePolicy, Op: "reach the proxy", Path: req.Network.ProxyAddr,
			Detail: fmt.Sprintf("the fence lets commands reach 127.0.0.1 on ports %d-%d only", rec.Low, rec.High),
			Hint:   "windows.proxyPortRange in the settings must be what srt-windows install was told"}
	}
	return nil
}

// sameInstallation refuses settings that describe another installation than the machine has.
func sameInstallation(rec setup.Record, w *wire.WindowsHost) error {
	if w == nil {
		return nil
	}
	differs := func(key, theirs, ours, setting, option string) error {
		return &problem.Error{Code: problem.Differs, Op: "run", Path: key, Detail: fmt.Sprintf("the settings say %s, srt was installed with %s", theirs, ours),
			Fix: fmt.Sprintf(`put "windows": {%s} into the settings, or srt-windows install --force %s`, setting, option)}
	}
	switch {
	case w.SandboxUser != "" && !strings.EqualFold(w.SandboxUser, rec.User):
		return differs("windows.sandboxUser", strconv.Quote(w.SandboxUser), strconv.Quote(rec.User), fmt.Sprintf(`"sandboxUser": %q`, rec.User), "--sandbox-user "+strconv.Quote(w.SandboxUser))
	case w.Sublayer != "" && !strings.EqualFold(w.Sublayer, string(rec.Sublayer)):
		return differs("windows.sublayerGuid", w.Sublayer, string(rec.Sublayer), fmt.Sprintf(`"sublayerGuid": %q`, string(rec.Sublayer)), "--sublayer-guid "+w.Sublayer)
	case w.ProxyPortLow != rec.Low || w.ProxyPortHigh != rec.High:
		return differs("windows.proxyPortRange", fmt.Sprintf("%d-%d", w.ProxyPortLow, w.ProxyPortHigh), fmt.Sprintf("%d-%d", rec.Low, rec.High),
			fmt.Sprintf(`"proxyPortRange": [%d, %d]`, rec.Low, rec.High), fmt.Sprintf("--proxy-port-range %d-%d", w.ProxyPortLow, w.ProxyPortHigh))
	}
	return nil
}
