package acl

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

const maxReadFile = 1 << 20 // git's own small files

// view shows Windows files to the rules. An 8.3 name is shown as a link to the long one, so that no object has two names for them.
type view struct {
	api winapi.Files
	err error // the first call that failed for another reason than that nothing is there
}

var _ pathrule.FS = (*view)(nil)

func native(p string) string  { return strings.ReplaceAll(p, "/", `\`) }
func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func (v *view) look(path string) (winapi.Look, bool) {
	p, err := winpath.Clean(path)
	if err != nil {
		return winapi.Look{}, false // a name that Windows would read as another: for the rules nothing is there
	}
	l, err := v.api.Look(p)
	if err != nil {
		if v.err == nil {
			v.err = refused("look at", p, err, "name paths that you may look at yourself")
		}
		return winapi.Look{}, false
	}
	return l, l.Name != "" && winpath.Base(p) != "" && winpath.Key(l.Name) != winpath.Key(winpath.Base(p))
}

// Lstat implements pathrule.FS.
func (v *view) Lstat(path string) pathrule.Kind {
	l, alias := v.look(path)
	switch {
	case alias:
		return pathrule.Link
	case l.Kind == winapi.KindFile:
		return pathrule.File
	case l.Kind == winapi.KindDir:
		return pathrule.Dir
	case l.Kind == winapi.KindLink:
		return pathrule.Link
	case l.Kind == winapi.KindOther:
		return pathrule.Other
	}
	return pathrule.Missing
}

// Readlink implements pathrule.FS.
func (v *view) Readlink(path string) string {
	l, alias := v.look(path)
	if alias {
		return l.Name
	}
	t := strings.TrimPrefix(strings.TrimPrefix(l.Target, `\??\`), `\\?\`)
	if strings.HasPrefix(t, `\`) || strings.HasPrefix(t, "Volume{") || strings.HasPrefix(t, `UNC\`) {
		return "" // a share, a volume without a letter, or the root of the current drive: it leads nowhere that can be guarded
	}
	return slashed(t)
}

// ReadDir implements pathrule.FS.
func (v *view) ReadDir(path string, visit func(name []byte, kind pathrule.Kind)) error {
	entries, err := v.api.List(native(path))
	if err != nil {
		if v.err == nil && !errors.Is(err, winapi.ErrFileNotFound) && !errors.Is(err, winapi.ErrPathNotFound) {
			v.err = refused("look for protected names in", native(path), err, "a directory that you cannot list cannot be searched; leave it out of allowWrite, or change its permissions")
		}
		return err
	}
	for _, e := range entries {
		kind := pathrule.File
		switch {
		case e.Link:
			kind = pathrule.Link
		case e.Dir:
			kind = pathrule.Dir
		}
		if utf8.ValidString(e.Name) && winpath.CheckName(e.Name) == nil {
			visit([]byte(e.Name), kind)
		}
	}
	return nil
}

// ReadFile implements pathrule.FS.
func (v *view) ReadFile(path string) []byte {
	b, err := v.api.ReadSmall(native(path), maxReadFile)
	if err != nil {
		return nil
	}
	return b
}

// BornAfterStart implements pathrule.FS: the plan is made before the start.
func (v *view) BornAfterStart(string) bool { return false }
