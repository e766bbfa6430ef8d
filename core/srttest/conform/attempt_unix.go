//go:build linux || darwin

package conform

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Build makes the tree of a case on the disk.
func (c *Case) Build() error {
	for _, entry := range c.Tree {
		path, target, link := strings.Cut(entry, " -> ")
		dir := path
		if link || !strings.HasSuffix(path, "/") {
			dir = filepath.Dir(path)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		var err error
		switch {
		case link:
			err = os.Symlink(target, path)
		case !strings.HasSuffix(path, "/"):
			err = os.WriteFile(path, []byte("#!/bin/sh\nexit 0\n"), 0o755)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// World is what an attempt needs to know of the machine.
type World struct {
	Questions []Question `json:"questions"`
	Proxy     string     `json:"proxy"` // address of the command's proxy
	Other     string     `json:"other"` // address on which somebody outside listens
}

// Main makes every attempt of the World in text, on the disk as it is, and prints the errors as a JSON list; "" for what worked.
func Main(text string) error {
	var w World
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return err
	}
	out := make([]string, len(w.Questions))
	for i, q := range w.Questions {
		if err := w.Attempt(q); err != nil {
			out[i] = err.Error()
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// Attempt makes one attempt and undoes what would stand in the way of the next.
func (w *World) Attempt(q Question) error {
	at := q.Args[0]
	switch q.Op {
	case "read":
		_, err := os.ReadFile(at)
		return err
	case "list":
		_, err := os.ReadDir(at)
		return err
	case "stat":
		_, err := os.Stat(at)
		return err
	case "exec":
		return exec.Command(at).Run()
	case "write":
		return open(at, os.O_WRONLY|os.O_APPEND)
	case "truncate":
		return os.Truncate(at, 1)
	case "chmod":
		return os.Chmod(at, 0o700)
	case "create":
		return undo(open(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL), func() error { return os.Remove(at) })
	case "mkdir":
		return undo(os.Mkdir(at, 0o755), func() error { return os.Remove(at) })
	case "symlink":
		return undo(os.Symlink("target", at), func() error { return os.Remove(at) })
	case "remove":
		return os.Remove(at)
	case "rename":
		return undo(syscall.Rename(at, q.Args[1]), func() error { return syscall.Rename(q.Args[1], at) })
	case "link":
		return undo(os.Link(at, q.Args[1]), func() error { return os.Remove(q.Args[1]) })
	}
	return w.network(q.Op, at)
}

// undo takes back what has worked. That it can is not what is asked.
func undo(err error, back func() error) error {
	if err == nil {
		_ = back()
	}
	return err
}

func open(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o644)
	if err == nil {
		f.Close()
	}
	return err
}

func (w *World) network(op, at string) error {
	network := "unix"
	switch op + " " + at {
	case "connect proxy":
		network, at = "tcp4", w.Proxy
	case "connect other":
		network, at = "tcp4", w.Other
	case "bind 127.0.0.1":
		network, at = "tcp4", "127.0.0.1:0"
	}
	switch op {
	case "connect", "dial":
		c, err := net.DialTimeout(network, at, 10*time.Second)
		if err == nil {
			c.Close()
		}
		return err
	case "bind", "serve":
		l, err := net.Listen(network, at)
		if err == nil {
			l.Close()
		}
		return err
	}
	return fmt.Errorf("no operation is called %q", op)
}
