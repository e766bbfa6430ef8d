package pathrule

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of the look back: it happens while the user waits for srt to exit.
const (
	maxLeftEntries = 50_000 // directory entries
	maxLeftLines   = 30
	madeDepth      = 4 // levels below a directory that the run made, beyond the search depth
)

// LeftFiles are the files, beside protected names, that Leftovers finds in directories that were there before. All else that it finds
// begins with a directory that the run made.
var LeftFiles = [...]string{"config", "config.worktree", "git-rebase-todo"}

// Search says where Leftovers looks and for what.
type Search struct {
	Roots     []string // writable trees
	Sequences []Sequence
	GitDirs   []string // git directories that existed
	Depth     int      // levels of directories below each root
}

// Leftovers says, one line each, what a run left in the writable trees that something could run later: protected names in directories
// that it made itself, repositories that it made whose hooks or configuration run programs, a rebase that goes on with commands.
// fs must know when the run started.
func Leftovers(fs FS, s Search) []string {
	l := &leftovers{fs: fs, heads: map[string][]*Sequence{}, seen: map[string]bool{}, budget: maxLeftEntries}
	for i := range s.Sequences {
		head := s.Sequences[i].Parts[0]
		l.heads[head] = append(l.heads[head], &s.Sequences[i])
	}
	for _, dir := range s.GitDirs {
		l.seen[dir] = true
		l.todo(dir)
	}
	for _, root := range s.Roots {
		l.search(root, max(s.Depth, 1))
	}
	slices.Sort(l.lines)
	l.lines = slices.Compact(l.lines)
	if extra := len(l.lines) - maxLeftLines; extra > 0 {
		l.lines = append(l.lines[:maxLeftLines], fmt.Sprintf("and %d more like these", extra))
	}
	if l.budget <= 0 {
		l.lines = append(l.lines, fmt.Sprintf("looked at %d files only: there may be more", maxLeftEntries))
	}
	return l.lines
}

// Changer is implemented by an FS that knows whether a directory changed after the start, by a time that nobody can set; Leftovers then
// skips what did not.
type Changer interface {
	ChangedAfterStart(path string) bool
}

type leftovers struct {
	fs     FS
	heads  map[string][]*Sequence
	seen   map[string]bool // git directories that are dealt with
	budget int
	lines  []string
}

func (l *leftovers) add(path, format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf("%q: ", path)+fmt.Sprintf(format, args...))
}

type leftDir struct {
	path  string
	level int // levels left below it
	made  bool
}

func (l *leftovers) search(root string, depth int) {
	queue := []leftDir{{root, depth, l.fs.BornAfterStart(root)}}
	for len(queue) > 0 && l.budget > 0 {
		d := queue[0]
		queue = queue[1:]
		if d.level == 1 && !d.made && !l.changed(d.path) {
			continue // nothing was made in it, and what is below is too deep
		}
		for _, name := range l.dir(d) {
			sub := leftDir{child(d.path, name), d.level - 1, d.made}
			if !sub.made && sub.level <= 0 { // only here it matters whether the run made it
				if sub.made = l.fs.BornAfterStart(sub.path); sub.made {
					sub.level = madeDepth
				}
			}
			if sub.level > 0 {
				queue = append(queue, sub)
			}
		}
	}
}

// changed says whether a name was made in the directory since the start, as far as fs can tell.
func (l *leftovers) changed(dir string) bool {
	c, ok := l.fs.(Changer)
	return !ok || c.ChangedAfterStart(dir)
}

// dir looks at one directory and gives the directories in it that are worth a look.
func (l *leftovers) dir(d leftDir) []string {
	var dirs []string
	var heads []entry
	var head, objects, refs bool
	_ = l.fs.ReadDir(d.path, func(raw []byte, kind Kind) { // what cannot be listed now could not be written before
		l.budget--
		if l.budget < 0 {
			return
		}
		if string(raw) == ".git" || l.heads[string(raw)] != nil {
			heads = append(heads, entry{string(raw), kind})
		}
		switch {
		case kind == Dir && string(raw) == "objects":
			objects = true
		case kind == Dir && string(raw) == "refs":
			refs = true
		case kind != Dir && string(raw) == "HEAD":
			head = true
		}
		if kind == Dir && string(raw) != ".git" {
			dirs = append(dirs, string(raw))
		}
	})
	if head && objects && refs {
		l.gitDir(d.path)
	}
	for _, h := range heads {
		path := child(d.path, h.name)
		if h.name == ".git" {
			l.repository(path, h.kind)
			continue
		}
		for _, s := range l.heads[h.name] {
			full := child(d.path, s.Name)
			if l.fs.Lstat(full) != Missing && l.fs.BornAfterStart(full) {
				l.add(full, "made by this command (%s)", s.Rule())
			}
		}
	}
	return dirs
}

func (l *leftovers) repository(dotGit string, kind Kind) {
	switch kind {
	case Dir:
		l.gitDir(dotGit)
	case File:
		if target, ok := ParseGitFile(l.fs.ReadFile(dotGit)); ok {
			if real, k := Resolve(l.fs, under(parent(dotGit), target)); k == Dir {
				l.gitDir(real)
			}
		}
	case Link:
		if real, k := Resolve(l.fs, dotGit); k == Dir {
			l.gitDir(real)
		}
	}
}

// gitDir looks at a git directory that the run may have made. One that existed was protected, unless it lay too deep.
func (l *leftovers) gitDir(dir string) {
	if l.seen[dir] {
		return
	}
	l.seen[dir] = true
	l.todo(dir)
	made := l.fs.BornAfterStart(dir)
	if hooks := child(dir, "hooks"); made || l.fs.BornAfterStart(hooks) {
		if names := l.hooks(hooks); len(names) > 0 {
			l.add(dir, "made by this command, its hooks would run: %s", strings.Join(names, ", "))
		}
	}
	for _, name := range []string{"config", "config.worktree"} {
		file := child(dir, name)
		if !made && !l.fs.BornAfterStart(file) {
			continue
		}
		if keys := programs(l.fs.ReadFile(file)); len(keys) > 0 {
			l.add(file, "made by this command, git would run or follow: %s", strings.Join(keys, ", "))
		}
	}
	if common, ok := ParseCommonDir(l.fs.ReadFile(child(dir, "commondir"))); ok {
		if real, k := Resolve(l.fs, under(dir, common)); k == Dir {
			l.gitDir(real)
		}
	}
}

func (l *leftovers) hooks(dir string) []string {
	var names []string
	_ = l.fs.ReadDir(dir, func(raw []byte, kind Kind) {
		if name := string(raw); !strings.HasSuffix(name, ".sample") && len(names) < 8 {
			names = append(names, fmt.Sprintf("%q", name))
		}
	})
	slices.Sort(names)
	return names
}

// todo looks for a rebase under way that would go on with commands.
func (l *leftovers) todo(dir string) {
	file := child(dir, "rebase-merge/git-rebase-todo")
	if l.fs.Lstat(child(dir, "rebase-merge")) != Dir || l.fs.Lstat(file) != File || !l.fs.BornAfterStart(file) {
		return
	}
	for line := range strings.Lines(string(l.fs.ReadFile(file))) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word == "exec" || word == "x" {
			l.add(file, "the rebase under way goes on with commands")
			return
		}
	}
}

// runs are the keys of git's configuration whose value is a program or leads git to one: the section and the last part of the key.
var runs = map[string]bool{
	"core.fsmonitor": true, "core.sshcommand": true, "core.hookspath": true, "core.pager": true, "core.editor": true, "core.askpass": true,
	"core.gitproxy": true, "core.alternaterefscommand": true, "sequence.editor": true, "interactive.difffilter": true,
	"diff.external": true, "diff.command": true, "diff.textconv": true, "difftool.cmd": true, "difftool.path": true, "mergetool.cmd": true, "mergetool.path": true,
	"merge.driver": true, "filter.clean": true, "filter.smudge": true, "filter.process": true, "credential.helper": true,
	"gpg.program": true, "gpg.defaultkeycommand": true, "include.path": true, "includeif.path": true, "init.templatedir": true,
	"uploadpack.packobjectshook": true, "remote.uploadpack": true, "remote.receivepack": true, "remote.vcs": true,
	"trailer.command": true, "trailer.cmd": true, "browser.cmd": true, "browser.path": true, "man.cmd": true, "man.path": true,
	"guitool.cmd": true, "sendemail.smtpserver": true, "sendemail.tocmd": true, "sendemail.cccmd": true, "sendemail.headercmd": true, "imap.tunnel": true,
	"protocol.allow": true,
}

// programs gives the keys in a git configuration that make git run something.
func programs(content []byte) []string {
	var out []string
	for _, v := range ParseGitConfig(content) {
		section, _, _ := strings.Cut(v.Key, ".")
		runsIt := runs[v.Key]
		switch {
		case section == "pager": // pager.log = less
			runsIt = v.Value != "true" && v.Value != "false"
		case section == "alias" || v.Key == "submodule.update":
			runsIt = strings.HasPrefix(strings.TrimSpace(v.Value), "!")
		case v.Key == "core.fsmonitor":
			runsIt = v.Value != "true" && v.Value != "false" && v.Value != ""
		case v.Key == "credential.helper":
			runsIt = strings.HasPrefix(v.Value, "!") || strings.Contains(v.Value, "/")
		}
		if runsIt && len(out) < 8 && !slices.Contains(out, v.Key) {
			out = append(out, v.Key)
		}
	}
	return out
}
