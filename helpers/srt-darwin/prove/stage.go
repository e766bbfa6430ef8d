//go:build linux || darwin

package prove

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/srt-dev/srt/core/wire"
)

// stage is a Stage with what keeps it alive.
type stage struct {
	Stage
	listeners []net.Listener
	neighbour *neighbour
}

// files of a stage; a name that ends in "/" is a directory.
var stageFiles = map[string]string{
	"outside/file":     "outside",
	"hidden/file":      "secret",
	"hidden/program":   "#!/bin/sh\nexit 0\n",
	"hidden/open/file": "open",
	"closed/file":      "secret",
	"work/file":        "file",
	"work/.env":        "secret",
	"work/app/.env":    "secret",
	"work/kept/file":   "kept",
	"work/a/":          "",
	"work/b/":          "",
	"work/.git/HEAD":   "ref: refs/heads/main\n",
	"work/.git/config": "[core]\n",
	"work/.git/hooks/": "",
	"tmp/":             "",
}

// protected names that a stage's policy knows.
var protected = []wire.Protected{{Name: ".bashrc"}, {Name: ".git/hooks", Dir: true}, {Name: ".git/config"}, {Name: ".claude/hooks", Dir: true}}

func newStage() (_ *stage, err error) {
	root, err := os.MkdirTemp("", "srt-prove-")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	s := &stage{Stage: Stage{Root: root, Pid: os.Getpid()}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for name, text := range stageFiles {
		path := s.path(name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return s, err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return s, err
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			return s, err
		}
	}
	for _, port := range []*int{&s.Proxy, &s.Other} {
		l, err := s.listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return s, err
		}
		*port = l.Addr().(*net.TCPAddr).Port
	}
	if _, err = s.listen("unix", s.path("work/sock")); err != nil {
		return s, err
	}
	if s.Resolver = resolver; resolver == "" {
		s.Resolver = s.path("outside/resolver")
		_, err = s.listen("unix", s.Resolver)
	}
	return s, err
}

func (s *stage) listen(network, addr string) (net.Listener, error) {
	l, err := net.Listen(network, addr)
	if err == nil {
		s.listeners = append(s.listeners, l)
	}
	return l, err
}

func (s *stage) close() error {
	errs := []error{s.neighbour.end()}
	for _, l := range s.listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.Root))...)
}

// request is the policy that the attempts are made for.
func (s *stage) request(argv []string, port string) wire.LaunchRequest {
	entry := func(path string, glob bool) wire.PathEntry {
		return wire.PathEntry{Path: path, Glob: glob, Rule: path}
	}
	return wire.LaunchRequest{
		Version:   wire.Version,
		CommandID: "prove",
		Command:   wire.Command{Argv: argv, Env: []string{"PATH=/usr/bin:/bin", "TMPDIR=" + s.path("tmp")}, Dir: s.path("work"), PassFDs: []int{}, IgnoredSignals: []int{}},
		Files: wire.FilePolicy{
			DenyRead:   []wire.PathEntry{entry(s.path("hidden"), false), entry(s.path("closed"), false), entry(s.path("work")+"/**/.env", true)},
			AllowRead:  []wire.PathEntry{entry(s.path("hidden/open"), false)},
			AllowWrite: []wire.PathEntry{entry(s.path("work"), false)},
			DenyWrite:  []wire.PathEntry{entry(s.path("work/kept/file"), false), entry(s.path("work/never"), false), entry(s.path("work/n\u00e9ver"), false), entry(s.path("work")+"/**/*.pem", true)},
			Protected:  protected, GitRules: true, ScanDepth: 3,
		},
		Network: wire.NetPolicy{ProxyAddr: "127.0.0.1:" + port, Mirrors: []string{}},
		Process: wire.ProcPolicy{AllowUnixSockets: []wire.PathEntry{}, AllowMachLookup: []string{}},
		Host:    wire.HostContext{Home: s.path("home"), SessionID: "prove0prove0"},
	}
}

// untouched says what the attempts changed although nothing of it may be.
func (s *stage) untouched() error {
	var errs []error
	for _, name := range []string{"outside/new", "outside/new2", "work/never", "work/NEVER", "work/ne\u0301ver", "work/\u212aey", "work/a/b.pem", "work/a/.bashrc", "work/b/.BashRC",
		"work/.git/hooks/pre-commit", "work/.claude", "work/fresh/.git", "work/second", "work/inside"} {
		if _, err := os.Lstat(s.path(name)); err == nil {
			errs = append(errs, errors.New(name+" has come into being"))
		}
	}
	for _, name := range []string{"outside/file", "hidden/file", "closed/file", "work/.env", "work/app/.env", "work/kept/file", "work/.git/config"} {
		if text, err := os.ReadFile(s.path(name)); err != nil || string(text) != stageFiles[name] {
			errs = append(errs, errors.New(name+" has changed"))
		}
	}
	return errors.Join(errs...)
}
