package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/policy"
	"github.com/srt-dev/srt/core/session"
	"github.com/srt-dev/srt/core/violation"
	"github.com/srt-dev/srt/core/wire"
)

// Manager is one session: it runs commands under one Config. Every method may be called from everywhere at once.
type Manager struct {
	o       options
	home    string
	own     []string // srt's programs and the one that runs: commands may not change them
	id      string
	session *session.Session
	store   violation.Store
	hub     hub

	updating sync.Mutex // one UpdateConfig at a time

	mu      sync.Mutex
	config  Config
	policy  *policy.Policy
	lists   map[string]NetworkLists // by the part of the key that counts
	origins map[string]origin       // by command id, while the command may still be spoken of
	started uint64
	cmds    map[*Cmd]struct{} // started and not yet waited for
}

// origin is whose a command id is.
type origin struct{ key, text string }

// New starts a session under cfg. ctx bounds its start only. The caller must call Close.
func New(ctx context.Context, cfg Config, opts ...Option) (*Manager, error) {
	if err := session.Supported(); err != nil {
		return nil, err
	}
	m := &Manager{lists: map[string]NetworkLists{}, origins: map[string]origin{}, cmds: map[*Cmd]struct{}{}}
	for _, opt := range opts {
		opt(&m.o)
	}
	if m.o.log == nil {
		m.o.log = slog.New(slog.DiscardHandler)
	}
	helper, proxy, err := m.find()
	if err != nil {
		return nil, err
	}
	if err := m.place(); err != nil {
		return nil, err
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	m.id = hex.EncodeToString(id)
	if err := m.resolve(cfg); err != nil {
		return nil, err
	}
	m.session, err = session.Start(ctx, session.Options{Helper: helper, Proxy: proxy, Log: m.o.log,
		Hooks: session.Hooks{Violation: m.refused, Allowed: m.allowed, Ask: m.ask}}, m.proxyConfig(m.policy))
	if err != nil {
		return nil, err
	}
	return m, nil
}

// find finds srt's programs.
func (m *Manager) find() (helper, proxy string, err error) {
	find := oneshot.Find
	if m.o.libexec != "" {
		find = func(name string) (string, error) { return oneshot.FindIn(m.o.libexec, name) }
	}
	base := "srt-" + runtime.GOOS
	for _, p := range []struct {
		name string
		path *string
	}{{base, nil}, {"proxyd-rpc", &proxy}, {base + "-rpc", &helper}} {
		path, err := find(p.name)
		if err != nil {
			return "", "", err
		}
		if p.path != nil {
			*p.path = path
		}
		m.own = append(m.own, path)
	}
	self, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	m.own = append(m.own, self, filepath.Join(filepath.Dir(helper), "proxyd"))
	return helper, proxy, nil
}

// place finds the home and the working directory.
func (m *Manager) place() (err error) {
	if m.home = os.Getenv("HOME"); !filepath.IsAbs(m.home) {
		return &Fault{Code: wire.CodePolicy, Op: "find the home directory", Path: m.home, Detail: "HOME is not an absolute path", Hint: "set HOME"}
	}
	if m.o.dir == "" {
		if m.o.dir, err = os.Getwd(); err != nil {
			return err
		}
	}
	if !filepath.IsAbs(m.o.dir) {
		return &Fault{Code: wire.CodePolicy, Op: "run commands in", Path: m.o.dir, Detail: "the directory is not absolute"}
	}
	if m.o.dir, err = filepath.EvalSymlinks(m.o.dir); err != nil { // $PWD may name it through a link
		return err
	}
	m.home, m.o.dir = filepath.Clean(m.home), filepath.Clean(m.o.dir)
	return nil
}

// resolve puts cfg in force for commands to come.
func (m *Manager) resolve(cfg Config) error {
	cfg = *cfg.Clone()
	p, err := policy.Resolve(&cfg, policy.Context{Home: m.home, Dir: m.o.dir, SettingsPath: cfg.Source(), SrtBinaries: m.own, Env: os.Environ(),
		Ask: m.o.ask != nil, Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil }})
	if err != nil {
		return err
	}
	if m.session != nil {
		if err := m.session.Configure(context.Background(), m.proxyConfig(p)); err != nil {
			return err
		}
	}
	for _, w := range p.Warnings() {
		m.o.log.Warn(w)
	}
	for _, n := range p.Notes() {
		m.o.log.Debug(n)
	}
	m.store.SetIgnore(p.IgnoreViolations())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.config, m.policy = cfg, p
	return nil
}

func (m *Manager) proxyConfig(p *policy.Policy) wire.ProxyConfig {
	c := p.ProxyConfig()
	c.Audit = m.o.audit
	return c
}

// UpdateConfig replaces the Config. Network lists hold for the next connection, also of commands that run; the rest holds for commands
// to come. When it fails the Config before stays in force.
func (m *Manager) UpdateConfig(cfg Config) error {
	m.updating.Lock()
	defer m.updating.Unlock()
	return m.resolve(cfg)
}

// Config is the Config in force; changing what it gives changes nothing.
func (m *Manager) Config() Config {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.config.Clone()
}

// Check tries every protection on this machine, with a small sandbox that is attacked from inside.
func (m *Manager) Check(ctx context.Context) (CheckReport, error) {
	m.mu.Lock()
	bwrap := m.config.BwrapPath
	m.mu.Unlock()
	return m.session.Check(ctx, wire.HostContext{Home: m.home, BwrapPath: bwrap, SessionID: m.id})
}

// Err says why the Manager cannot run commands any more, nil while it can.
func (m *Manager) Err() error { return m.session.Err() }

// Violations keeps what was refused.
func (m *Manager) Violations() *violation.Store { return &m.store }

// Annotate appends the violations under an attribution key to what a command wrote on stderr; without violations it changes nothing.
func (m *Manager) Annotate(key, stderr string) string { return m.store.Annotate(key, stderr) }

// Events starts a stream that holds up to buffer unread events. It tells of refusals, under WithAudit of allowed
// connections, and under WithFileAudit of created names.
func (m *Manager) Events(buffer int) *EventStream { return m.hub.join(buffer) }

// Close ends every command with everything that it started, waits for them, and leaves nothing behind.
func (m *Manager) Close() error {
	m.mu.Lock()
	cmds := make([]*Cmd, 0, len(m.cmds))
	for c := range m.cmds {
		cmds = append(cmds, c)
	}
	m.mu.Unlock()
	for _, c := range cmds {
		c.command.Stop()
	}
	for _, c := range cmds {
		_ = c.Wait() // somebody else's to judge
	}
	err := m.session.Close()
	m.hub.close()
	return err
}

// begin gives a new command its id.
func (m *Manager) begin(key, text string) (id string, p *policy.Policy) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started++
	id = m.id + "-" + strconv.FormatUint(m.started, 10)
	m.origins[id] = origin{key, text}
	m.store.Begin(id, key, text)
	return id, m.policy
}

// end forgets a command.
func (m *Manager) end(id string, c *Cmd) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.origins, id)
	delete(m.cmds, c)
}

func (m *Manager) origin(id string) origin {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.origins[id]
}

func (m *Manager) refused(v wire.Violation) {
	if !m.store.Add(v) {
		return // the settings say that nobody wants to know
	}
	o := m.origin(v.CommandID)
	m.hub.tell(Event{Time: stamp(v.TimeMs), Key: o.key, Command: o.text, Operation: v.Operation, Target: v.Target, Rule: v.Rule, Reason: v.Reason,
		Process: v.Process, Count: max(1, v.Count)})
}

func (m *Manager) allowed(d wire.Decision) {
	o := m.origin(d.CommandID)
	m.hub.tell(Event{Time: stamp(d.TimeMs), Key: o.key, Command: o.text, Operation: d.Operation, Target: d.Target,
		Allowed: d.Verdict == wire.VerdictAllow, Rule: d.Rule, Reason: d.Reason, Process: d.Process, Count: max(1, d.Count)})
}

func (m *Manager) ask(ctx context.Context, a wire.Ask) bool {
	if m.o.ask == nil {
		return false
	}
	o := m.origin(a.CommandID)
	return m.o.ask(ctx, Question{Host: a.Host, Port: a.Port, Key: o.key, Command: o.text})
}

func stamp(ms int64) time.Time {
	if ms == 0 {
		return time.Now()
	}
	return time.UnixMilli(ms)
}
