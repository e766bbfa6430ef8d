package fileplan

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// maxNotes bounds what --debug shows of entries that do nothing.
const maxNotes = 40

// Options are what a plan needs to know beside the policy.
type Options struct {
	Dir  string // working directory of the command, absolute
	Home string // home directory, "" when unknown
	// Debug: also look for hard links of the entries, which takes a look at each.
	Debug bool
}

// Plan makes the view of one command from its policy and what is on the disk now. The notes are for --debug. Errors are *wire.Fault
// values of CodePolicy that name the entry and the way out.
func Plan(files wire.FilePolicy, opts Options) (*view.View, []string, error) {
	started := time.Now().UnixNano()
	fs := newHostFS(started)
	v, notes, err := plan(files, opts, fs)
	if err != nil {
		return nil, nil, err
	}
	v.StartedNs = started
	return v, notes, nil
}

func plan(files wire.FilePolicy, opts Options, fs pathrule.FS) (*view.View, []string, error) {
	dir, err := workingDir(fs, opts.Dir)
	if err != nil {
		return nil, nil, err
	}
	v := &view.View{Unrestricted: files.Disabled, Cwd: dir, ScanDepth: files.ScanDepth}
	if files.Disabled {
		return v, nil, nil
	}
	if err := refusePatterns(files.DenyRead); err != nil {
		return nil, nil, err
	}
	p, err := pathrule.NewWith(files, fs, pathrule.Options{Dir: dir, Home: opts.Home})
	if err != nil {
		return nil, nil, err
	}
	if parent := path.Dir(dir); p.Hidden(dir) && p.Hidden(parent) { // a hidden directory itself can be entered: it is walkable
		return nil, nil, &wire.Fault{Code: wire.CodePolicy, Op: "denyRead", Path: dir, Detail: "covers the working directory",
			Hint: `add "." to allowRead, or run the command somewhere else`}
	}
	b := builder{policy: p, view: v, notes: slices.Clone(p.Notes())}
	if err := b.addAll(p.Marks()); err != nil {
		return nil, nil, err
	}
	b.addNames()
	if h, ok := fs.(*hostFS); ok && opts.Debug {
		b.noteHardLinks(h)
	}
	if extra := len(b.notes) - maxNotes; extra > 0 {
		b.notes = append(b.notes[:maxNotes:maxNotes], fmt.Sprintf("and %d more notes like these", extra))
	}
	return v, b.notes, nil
}

// workingDir gives the working directory without links.
func workingDir(fs pathrule.FS, dir string) (string, error) {
	real, kind := pathrule.Resolve(fs, dir)
	if kind != pathrule.Dir {
		return "", &wire.Fault{Code: wire.CodePolicy, Op: "working directory", Path: dir, Detail: "is not a directory"}
	}
	return real, nil
}
