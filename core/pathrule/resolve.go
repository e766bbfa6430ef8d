package pathrule

import "strings"

// maxLinks is how many links one path may take, as in the kernel.
const maxLinks = 40

// place is where a path leads.
type place struct {
	path      string   // no link in it, unless kind is Link; the missing rest is appended as it is
	kind      Kind     // Missing when any component is
	links     []string // the links on the way, each by its own place
	above     string   // the deepest component that exists, for Missing
	aboveKind Kind
	loop      bool // too many links: path is the last link seen
}

// resolver follows links. With known it remembers directories, and lists one that is asked about often, so that many entries cost
// much less than one look each.
type resolver struct {
	fs    FS
	known map[string]*knownDir
	exact bool                   // names are compared byte by byte: a listing answers like a look
	step  func(path string) bool // asked before each component is looked up; false ends with Missing
}

// resolve says where path leads. follow: the last component too.
func (r *resolver) resolve(path string, follow bool) place {
	var pl place
	rest := path
	cur := "/"
	if !strings.HasPrefix(path, "/") {
		cur, rest = path[:3], path[3:]
	}
	if r.step == nil && r.known[parent(path)] != nil { // many entries lie in one directory
		cur, rest = parent(path), base(path)
	}
	kind := Dir
	for {
		rest = strings.TrimLeft(rest, "/")
		if rest == "" {
			break
		}
		name, tail, _ := strings.Cut(rest, "/")
		rest = tail
		last := strings.Trim(rest, "/") == ""
		switch {
		case name == ".":
			continue
		case kind != Dir:
			return missing(pl, cur, kind, name, rest)
		case name == "..":
			cur = parent(cur)
			continue
		}
		next := extend(path, cur, name)
		if r.step != nil && !r.step(next) {
			return missing(pl, cur, Dir, name, rest)
		}
		k := r.lstat(next)
		switch {
		case k == Missing:
			return missing(pl, cur, Dir, name, rest)
		case k == Link && (!last || follow):
			pl.links = append(pl.links, next)
			text := r.fs.Readlink(next)
			if len(pl.links) > maxLinks || text == "" {
				pl.path, pl.kind, pl.loop = next, Link, true
				return pl
			}
			if isAbs(text) {
				cur = "/"
				if !strings.HasPrefix(text, "/") {
					cur, text = text[:3], text[3:]
				}
			}
			rest = text + "/" + rest
			kind = Dir
			continue
		}
		cur, kind = next, k
	}
	pl.path, pl.kind = cur, kind
	return pl
}

// extend is child(cur, name) without a copy where path itself goes on like that.
func extend(path, cur, name string) string {
	n := len(cur) + 1 + len(name)
	if cur == "/" {
		n--
	}
	if n <= len(path) && path[n-len(name)-1] == '/' && path[n-len(name):n] == name && path[:len(cur)] == cur {
		return path[:n]
	}
	return child(cur, name)
}

func missing(pl place, dir string, kind Kind, name, rest string) place {
	pl.above, pl.aboveKind, pl.kind = dir, kind, Missing
	pl.path = child(dir, name)
	for c := range components(rest) {
		switch c {
		case ".":
		case "..":
			pl.path = parent(pl.path)
		default:
			pl.path = child(pl.path, c)
		}
	}
	return pl
}

// knownDir is a directory that was looked at or into.
type knownDir struct {
	asked int
	index *dirIndex // once asked often
}

// worthListing is the number of looks into one directory from which listing it is cheaper.
const worthListing = 8

func (r *resolver) lstat(path string) Kind {
	if r.known == nil {
		return r.fs.Lstat(path)
	}
	if r.known[path] != nil {
		return Dir
	}
	dir := parent(path)
	d := r.known[dir]
	if d == nil {
		d = &knownDir{}
		r.known[dir] = d
	}
	if d.asked++; r.exact && d.asked == worthListing {
		d.index = indexDir(r.fs, dir)
	}
	if d.index != nil {
		if k := d.index.kind(base(path)); k != Dir {
			return k
		}
	}
	k := r.fs.Lstat(path)
	if k == Dir {
		r.known[path] = &knownDir{}
	}
	return k
}

// Resolve says where path leads now, and what is there. A path with a missing component keeps its rest; too many links are Missing.
func Resolve(fs FS, path string) (string, Kind) {
	if !isAbs(path) {
		return path, Missing
	}
	r := resolver{fs: fs}
	pl := r.resolve(path, true)
	if pl.loop {
		return pl.path, Missing
	}
	return pl.path, pl.kind
}
