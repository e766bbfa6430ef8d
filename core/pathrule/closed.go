package pathrule

import (
	"errors"
	"io/fs"
)

// A directory that the caller may not list or search hides from the plan what is in it, and not from the command, which may change the mode
// of its own directories: a run could close one so that the next finds nothing to protect there. So what is denied in a closed directory,
// or could be, is denied for the directory as a whole.

const closedRule = "srt may not look into it, so what is protected in it is not known"

// closed gives the deepest directory on the way to a missing place when that one may not be searched, else "".
func (p *Policy) closed(pl *place) string {
	if pl.kind != Missing || pl.aboveKind != Dir || p.maySearch(pl.above) || !p.mayChange(pl.above) {
		return ""
	}
	return pl.above
}

func (p *Policy) mayChange(dir string) bool {
	s, ok := p.fs.(Searcher)
	return !ok || s.MayChange(dir)
}

func (p *Policy) maySearch(dir string) bool {
	s, ok := p.fs.(Searcher)
	if !ok {
		return true
	}
	may, known := p.searched[dir]
	if !known {
		may = s.MaySearch(dir)
		p.searched[dir] = may
	}
	return may
}

// unlisted gives what stands for a directory that could not be listed: itself, or the directory above it that may not be searched; "" when
// permission was not the reason.
func (p *Policy) unlisted(dir string, err error) string {
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	for q := dir; parent(q) != q; q = parent(q) {
		if !p.maySearch(parent(q)) {
			dir = parent(q)
		}
	}
	if !p.maySearch(dir) && !p.mayChange(dir) {
		return ""
	}
	return dir
}
