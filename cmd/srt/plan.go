package main

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/srt-dev/srt/core/launch"
	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/policy"
	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// programs are the binaries that srt runs, and those that a session of the same installation runs.
type programs struct {
	helper, proxy string
	all           []string // with srt itself: the command may not change them
}

func findPrograms() (programs, error) {
	var p programs
	name := "srt-" + runtime.GOOS
	helper, err := oneshot.Find(name)
	if err != nil {
		return p, err
	}
	proxy, err := oneshot.Find("proxyd")
	if err != nil {
		return p, err
	}
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	p = programs{helper, proxy, []string{self, helper, proxy}}
	if runtime.GOOS != "windows" { // no session is there
		p.all = append(p.all, helper+"-rpc", proxy+"-rpc")
	}
	return p, nil
}

// job is one command with everything that was found out about it.
type job struct {
	o      *options
	policy *policy.Policy
	ctx    policy.Context
	argv   []string
	text   string // the command as the user wrote it
	id     string
	helper string
}

// prepare reads the settings and resolves the policy.
func prepare(o *options, p programs) (*job, error) {
	dir, err := syscall.Getwd() // not os.Getwd: $PWD may name the directory through a link
	if err != nil {
		return nil, &wire.Fault{Code: wire.CodePolicy, Op: "find the working directory", Detail: err.Error(), Hint: "cd to a directory that exists"}
	}
	if !filepath.IsAbs(dir) {
		return nil, &wire.Fault{Code: wire.CodePolicy, Op: "find the working directory", Path: dir, Detail: "it lies outside what this process can reach"}
	}
	home, err := homeDir()
	if err != nil {
		return nil, err
	}
	file, path, err := loadSettings(o.settings, home, dir)
	if err != nil {
		return nil, err
	}
	j := &job{o: o, helper: p.helper, ctx: policy.Context{Home: home, Dir: dir, SettingsPath: path, SrtBinaries: p.all, Report: o.reportPath(dir), Env: os.Environ(), Ask: o.ask,
		Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil }}}
	if j.policy, err = policy.Resolve(file, j.ctx); err != nil {
		return nil, err
	}
	j.argv, j.text = o.argv(os.Getenv)
	if j.id, err = newID(); err != nil {
		return nil, err
	}
	return j, nil
}

// reportPath is the absolute path of the report, "" when none is wanted.
func (o *options) reportPath(dir string) string {
	if o.report == "" || filepath.IsAbs(o.report) {
		return o.report
	}
	return filepath.Join(dir, o.report)
}

// loadSettings gives the settings and the absolute path of their file, "" for the defaults.
func loadSettings(given, home, dir string) (*settings.File, string, error) {
	if given == "" {
		f, err := settings.LoadDefault(home)
		if err != nil {
			return nil, "", err
		}
		return f, f.Source(), nil
	}
	if !filepath.IsAbs(given) {
		given = filepath.Join(dir, given)
	}
	given = filepath.Clean(given)
	f, err := settings.Load(given)
	return f, given, err
}

// newID is unique and cannot be guessed.
func newID() (string, error) {
	b := make([]byte, 16)
	if err := random(b); err != nil {
		return "", &wire.Fault{Code: wire.CodeInternal, Op: "choose a session id", Detail: err.Error()}
	}
	return hex.EncodeToString(b), nil
}

// terms are what the place of the command depends on.
func (j *job) terms() launch.Terms {
	low, high := j.policy.ProxyPorts()
	return launch.Terms{CommandID: j.id, Ports: [2]int{low, high}}
}

// request asks for the command under the policy.
func (j *job) request(place *launch.Place, terminal, foreground bool) wire.LaunchRequest {
	cmd := wire.Command{Argv: j.argv, Env: j.env(place), Dir: j.ctx.Dir, Terminal: terminal, Foreground: foreground,
		PassFDs: append([]int{}, j.o.passFDs...), IgnoredSignals: launch.IgnoredSignals()}
	return j.policy.LaunchRequest(cmd, policy.LaunchOptions{CommandID: j.id, SessionID: j.id, ProxyAddr: place.ProxyAddr, Debug: j.o.debug,
		Explain: j.o.explain, Audit: j.o.audit})
}

// proxyConfig is what proxyd gets under policy p.
func (j *job) proxyConfig(p *policy.Policy) wire.ProxyConfig {
	cfg := p.ProxyConfig()
	cfg.Debug, cfg.Audit = j.o.debug, j.o.report != ""
	if cfg.Ask {
		cfg.AskTimeoutMs = int(askPatience.Milliseconds())
	}
	return cfg
}
