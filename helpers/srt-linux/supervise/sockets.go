package supervise

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// ownMax bounds the sockets bound inside that connects may reach; each holds a descriptor, which keeps its inode number from being
// used again. A forgotten one is refused like a host socket.
const ownMax = 512

// sockets say which unix sockets the command may reach.
type sockets struct {
	allowed []allowedSocket

	mu    sync.Mutex
	own   map[identityKey]int // O_PATH descriptor
	order []identityKey       // oldest first
}

// An allowedSocket is one entry of allowUnixSockets, by where it really led when the command started: the command may be able to
// change links in it, but not where they led.
type allowedSocket struct {
	path string // "" for a pattern that is not also a path
	dir  bool
	glob *pathrule.Glob
}

func (s *sockets) allow(entries []wire.PathEntry) error {
	s.own = map[identityKey]int{}
	for _, e := range entries {
		if !filepath.IsAbs(e.Path) {
			return &wire.Fault{Code: wire.CodePolicy, Op: "allow the unix socket", Path: e.Path, Detail: "not an absolute path"}
		}
		a, lead := allowedSocket{}, e.Path
		if e.Glob {
			g, err := pathrule.ParseGlob(e.Path)
			if err == nil {
				lead = g.LiteralBase()
				g, err = g.Rebase(realPath(g.LiteralBase()))
			}
			if err != nil {
				return &wire.Fault{Code: wire.CodePolicy, Op: "allow the unix sockets", Path: e.Path, Detail: err.Error()}
			}
			a.glob = g
		}
		if link := cmp.Or(replaceable(e.Path), replaceable(lead)); link != "" {
			return &wire.Fault{Code: wire.CodePolicy, Op: "allow the unix socket", Path: e.Path, Detail: fmt.Sprintf("%q is a symbolic link and lies in a directory that the command may write", link),
				Hint: "name what it leads to, or remove the link"}
		}
		if _, err := os.Lstat(e.Path); err == nil || !e.Glob {
			a.path = realPath(e.Path)
			st, err := os.Stat(a.path)
			a.dir = err == nil && st.IsDir()
		}
		s.allowed = append(s.allowed, a)
	}
	return nil
}

// replaceable gives the first link on the way along path that the command could replace: the next run would allow what it leads to then.
func replaceable(path string) string {
	at, links := "/", 0
	for path != "" {
		var name string
		switch name, path, _ = strings.Cut(path, "/"); name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks || unix.Access(at, unix.W_OK) == nil {
			return next
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		path = target + "/" + path
	}
	return ""
}

// realPath follows links as far as the path exists.
func realPath(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && path != "/" {
		if _, err := os.Lstat(path); err != nil { // not a dangling link, which leads nowhere that is allowed
			return filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path))
		}
	}
	if err != nil {
		return path
	}
	return real
}

// named says whether allowUnixSockets names anything.
func (s *sockets) named() bool { return len(s.allowed) > 0 }

// allows judges the resolved path of a socket.
func (s *sockets) allows(path string) bool {
	for _, a := range s.allowed {
		if a.path != "" && (path == a.path || a.dir && view.Within(path, a.path)) || a.glob != nil && a.glob.Match(path) {
			return true
		}
	}
	return false
}

// mayAllowBelow says whether a socket somewhere below the directory dir could be allowed.
func (s *sockets) mayAllowBelow(dir string) bool {
	return slices.ContainsFunc(s.allowed, func(a allowedSocket) bool {
		return a.glob != nil && a.glob.MayMatchBelow(dir) || a.path != "" && (view.Within(a.path, dir) || a.dir && view.Within(dir, a.path))
	})
}

// reachable says whether a socket of this name could be connected to: then the command must not move or link one there. The path of a
// foreign caller's directory says nothing.
func (w *worker) reachable(p place) bool {
	return w.sockets.named() && (w.foreign || w.sockets.allows(w.fullPath(p)))
}

// remember makes a socket that was bound inside reachable. It takes fd, an O_PATH descriptor.
func (s *sockets) remember(k identityKey, fd int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.own[k]; ok {
		closeFd(old)
		s.own[k] = fd
		return
	}
	if len(s.order) >= ownMax {
		s.sweep()
	}
	if len(s.order) >= ownMax {
		closeFd(s.own[s.order[0]])
		delete(s.own, s.order[0])
		s.order = s.order[1:]
	}
	s.own[k] = fd
	s.order = append(s.order, k)
}

// sweep drops the sockets that have no name any more.
func (s *sockets) sweep() {
	kept := s.order[:0]
	for _, k := range s.order {
		var st unix.Stat_t
		if fd := s.own[k]; unix.Fstat(fd, &st) == nil && st.Nlink > 0 {
			kept = append(kept, k)
			continue
		}
		closeFd(s.own[k])
		delete(s.own, k)
	}
	s.order = kept
}

func (s *sockets) isOwn(k identityKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.own[k]
	return ok
}
