package pathrule

import (
	"slices"
	"strings"
)

// GitDir is a git directory (".git", a bare repository, one of a worktree or submodule) that existed when the command started. Of the
// names directly in it only those that GitMayChange allows may come into being, change, be moved or removed.
type GitDir struct {
	Path string
	Open []string // names that the settings lift
}

// Allows says whether the command may make, change, move or remove name directly in this git directory.
func (g *GitDir) Allows(name string) bool {
	return GitMayChange(name) || slices.Contains(g.Open, strings.TrimSuffix(name, ".lock"))
}

// gitWork is what git itself writes in a git directory while people work. Nothing in it names a program that git would run later;
// hooks, config, config.worktree, commondir, gitdir and whatever git may learn to read are absent on purpose.
var gitWork = map[string]bool{
	"objects":             true, // commits and files
	"refs":                true, // branches, tags, stash
	"reftable":            true, // the same in the newer format
	"packed-refs":         true, // the same, packed
	"packed-refs.new":     true, // while packing
	"logs":                true, // reflogs
	"index":               true, // staging area
	"info":                true, // exclude, sparse-checkout, refs; its "attributes" is protected by path
	"shallow":             true, // fetch --depth
	"description":         true, // text for gitweb
	"branches":            true, // legacy: names URLs only
	"worktrees":           true, // worktree add; those that exist are git directories of their own
	"modules":             true, // submodules; those that exist are git directories of their own
	"locked":              true, // worktree lock
	"rebase-merge":        true, // rebase under way
	"rebase-apply":        true, // am and rebase under way
	"sequencer":           true, // cherry-pick and revert under way
	"rr-cache":            true, // rerere
	"gc.pid":              true, // gc under way
	"gc.log":              true, // what gc had to say
	"lfs":                 true, // git-lfs objects
	"annex":               true, // git-annex objects
	"svn":                 true, // git-svn
	"filter-repo":         true, // git-filter-repo
	"addp-hunk-edit.diff": true, // add -p, edited by hand
	"fsmonitor--daemon":   true, // cookies of the built-in file watcher
	"gitk.cache":          true, // gitk
}

// GitMayChange says whether ordinary git work makes or changes name directly in a git directory.
func GitMayChange(name string) bool {
	switch {
	case name == "":
		return false
	case gitWork[name]:
		return true
	case name == "HEAD", 'A' <= name[0] && name[0] <= 'Z' && strings.Contains(name, "_"):
		// ORIG_HEAD, MERGE_MSG, …: references and texts. The underscore keeps out HOOKS, which some file systems take for hooks.
		return true
	case name[0] == '.': // an editor's swap file beside COMMIT_EDITMSG
		return true
	}
	if strings.HasSuffix(name, ".lock") { // counts for nothing until it is renamed
		return true
	}
	for _, prefix := range gitTemporary {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// gitTemporary are beginnings of the names of git's temporary files.
var gitTemporary = []string{
	"index.",             // index.stash.PID
	"next-index-",        // commit of some paths only
	"sharedindex.",       // split index
	"sharedindex_",       // the same, being written
	"shallow_",           // fetch --depth, being written
	"tmp_",               // objects on their way
	"fsmonitor--daemon.", // socket of the built-in file watcher
	"fast_import_crash_", // report of a failed fast-import
}

// GitRule is why a name directly in a git directory is protected.
const GitRule = "git would run or follow it"

const (
	gitDirRule   = "a git directory stays where it is"
	gitFileRule  = "names the git directory of a worktree or submodule"
	attrRule     = "names filters that git runs"
	hooksRule    = "git runs the hooks in it (core.hooksPath)"
	manyRule     = "too many or too deep directories of modules and worktrees to look for what git would run"
	includeRule  = "git reads it as configuration (include.path)"
	maxGitChains = 8      // include files inside one another, modules inside one another
	maxGitDirs   = 10_000 // directories that are searched for those of modules and worktrees, in all repositories
)

// repository protects what git would read of the repository whose ".git" (a directory, file or link called name) lies in dir.
func (p *Policy) repository(dir, name string, kind Kind) {
	dotGit := child(dir, name)
	pl := p.start.resolve(dotGit, true)
	for _, link := range pl.links {
		p.denyMark(link, Link, GitRule)
	}
	switch {
	case kind == Link && pl.kind == Dir:
		if !p.gitDirAt(pl.path, dir) {
			for _, s := range p.heads[p.key(".git")] {
				p.protectExisting(dir, name, s)
			}
		}
	case pl.kind == Dir:
		p.gitDir(pl.path, dir)
	case pl.kind == File:
		p.addDeny(dotGit, gitFileRule)
		if target, ok := ParseGitFile(p.fs.ReadFile(pl.path)); ok {
			p.gitDirAt(under(parent(pl.path), target), dir)
		}
	case kind != Dir:
		p.addDeny(dotGit, GitRule)
	}
}

// enclosingRepository looks for the repository that a writable directory belongs to: its configuration may name hooks inside.
func (p *Policy) enclosingRepository(root string) {
	if !p.files.GitRules {
		return
	}
	for dir := root; parent(dir) != dir; {
		dir = parent(dir)
		if k := p.start.lstat(child(dir, ".git")); k != Missing {
			p.repository(dir, ".git", k)
			return
		}
		if p.Hidden(dir) && p.bare(dir) {
			p.gitDir(dir, "")
			return
		}
	}
}

// bare says whether git would take dir for a bare repository.
func (p *Policy) bare(dir string) bool {
	return p.start.lstat(child(dir, "HEAD")) != Missing && p.start.lstat(child(dir, "objects")) == Dir && p.start.lstat(child(dir, "refs")) == Dir
}

// gitDir protects one git directory; worktree is where its files are, "" for a bare repository.
func (p *Policy) gitDir(dir, worktree string) {
	seen := p.key(dir) + "\x00" + p.key(worktree)
	if p.gitSeen[seen] {
		return
	}
	p.gitSeen[seen] = true
	same, _ := p.elsewhere(dir)
	for _, d := range same {
		p.gitDir(d, worktree)
	}
	if p.gitDirs[p.key(dir)] == nil && (p.Writable(dir) || p.reopensBelow(dir)) {
		p.protectGitDir(dir)
	}
	top := worktree
	if top == "" {
		top = dir
	}
	for _, value := range p.hooksRel {
		p.protectHooks(value, top, top)
	}
	for _, name := range []string{"config", "config.worktree"} {
		p.gitConfig(child(dir, name), top, 0)
	}
	if common, ok := ParseCommonDir(p.fs.ReadFile(child(dir, "commondir"))); ok {
		p.gitDirAt(under(dir, common), worktree)
	}
}

// reopensBelow says that something inside dir, which is read-denied itself, can be written.
func (p *Policy) reopensBelow(dir string) bool {
	if !p.Hidden(dir) {
		return false
	}
	for _, m := range p.marks {
		if p.reopened(m) && inside(p.key(m.Path), p.key(dir)) {
			return true
		}
	}
	return false
}

// gitDirAt follows a path that a file names. What git would not take for a git directory is left alone: a planted file must not make a
// directory of sources unwritable for the next run.
func (p *Policy) gitDirAt(path, worktree string) bool {
	to := p.start.resolve(path, true)
	if to.kind != Dir || p.start.lstat(child(to.path, "HEAD")) == Missing {
		return false
	}
	p.gitDir(to.path, worktree)
	return true
}

func (p *Policy) protectGitDir(dir string) {
	g := &GitDir{Path: dir, Open: p.gitOpen()}
	p.gitDirs[p.key(dir)] = g
	if m := p.mark(dir, Dir); m.Pin == "" {
		m.Pin = gitDirRule
	}
	var below []string
	var deny []string
	if err := p.fs.ReadDir(dir, func(raw []byte, kind Kind) {
		switch name := string(raw); {
		case !g.Allows(name) || kind == Dir && !gitWork[name] && !slices.Contains(g.Open, name): // an editor's swap file is no directory
			deny = append(deny, name)
		case kind == Dir && (name == "modules" || name == "worktrees"):
			below = append(below, name)
		}
	}); err != nil {
		p.note("%q: not searched: %v", dir, err)
		if closed := p.unlisted(dir, err); closed != "" {
			p.addDeny(closed, closedRule)
		}
	}
	for _, name := range deny {
		p.addDeny(child(dir, name), GitRule)
	}
	p.addDeny(child(dir, "info/attributes"), attrRule)
	for _, name := range below {
		p.gitDirsBelow(child(dir, name), 0)
	}
}

// gitOpen are the names in a git directory that allowGitConfig and allowProtected lift.
func (p *Policy) gitOpen() []string {
	open := []string{"config", "config.worktree", "hooks"}
	for i := range p.sequences {
		switch s := &p.sequences[i]; {
		case s.Name == ".git/config" && !p.files.GitConfig:
			open = slices.DeleteFunc(open, func(n string) bool { return strings.HasPrefix(n, "config") })
		case s.Name == ".git/hooks":
			open = slices.DeleteFunc(open, func(n string) bool { return n == "hooks" })
		}
	}
	return open
}

// gitDirsBelow finds the git directories in "modules" and "worktrees"; a module's name may have several components. What is too much or too
// deep to search is denied as a whole: a run may have made it so.
func (p *Policy) gitDirsBelow(dir string, depth int) {
	var dirs []string
	head := false
	if err := p.fs.ReadDir(dir, func(raw []byte, kind Kind) {
		head = head || string(raw) == "HEAD"
		if kind == Dir {
			dirs = append(dirs, string(raw))
		}
	}); err != nil {
		p.note("%q: not searched for git directories: %v", dir, err)
		if closed := p.unlisted(dir, err); closed != "" {
			p.addDeny(closed, closedRule)
		}
	}
	if head {
		p.gitDir(dir, "")
		for _, name := range dirs { // a HEAD beside modules makes them no part of it
			if sub := child(dir, name); p.bare(sub) {
				p.gitDir(sub, "")
			}
		}
		return
	}
	if p.gitLooks += len(dirs); len(dirs) > 0 && (depth == maxGitChains || p.gitLooks > maxGitDirs) {
		p.addDeny(dir, manyRule)
		return
	}
	for _, name := range dirs {
		p.gitDirsBelow(child(dir, name), depth+1)
	}
}

// under joins a path that a file names to the directory it is relative to. Links are left to resolve.
func under(dir, path string) string {
	if isAbs(path) {
		return path
	}
	return child(dir, path)
}
