package pathrule

import (
	"path"
	"strings"
)

// isAbs accepts "/…" and "C:/…".
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) >= 3 && p[1] == ':' && p[2] == '/'
}

func isClean(p string) bool {
	if len(p) == 3 && p[1] == ':' {
		return p[2] == '/'
	}
	return path.Clean(p) == p
}

// parent gives the directory that holds p; a root is its own parent.
func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	switch {
	case i == 0:
		return "/"
	case i == 2 && p[1] == ':':
		return p[:3]
	case i < 0:
		return p
	}
	return p[:i]
}

func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

func child(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// inside says whether p is dir or lies below it.
func inside(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir) && (strings.HasSuffix(dir, "/") || p[len(dir)] == '/')
}

func foldCase(s string) string { return strings.ToLower(strings.ToUpper(s)) }
