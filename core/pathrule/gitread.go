package pathrule

import (
	"bytes"
	"path"
	"strings"
)

// ParseGitFile reads a ".git" file: the git directory that it names, relative to where it lies.
func ParseGitFile(content []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(content, []byte("gitdir: "))
	if !ok {
		return "", false
	}
	return firstLine(rest)
}

// ParseCommonDir reads a "commondir" file: the git directory that a worktree shares.
func ParseCommonDir(content []byte) (string, bool) { return firstLine(content) }

func firstLine(b []byte) (string, bool) {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	s := strings.TrimRight(string(line), "\r")
	return s, s != "" && strings.IndexByte(s, 0) < 0
}

// userGitConfig reads the git configuration outside of repositories. Relative hook directories in it count for each repository.
func (p *Policy) userGitConfig() {
	if !p.files.GitRules {
		return
	}
	files := []string{"/etc/gitconfig"}
	if p.opts.Home != "" {
		files = append(files, child(p.opts.Home, ".gitconfig"), child(p.opts.Home, ".config/git/config"))
	}
	for _, f := range files {
		p.gitConfig(f, "", 0)
	}
}

// gitConfig protects the hook directories and included files that a configuration file names. top is what relative hook directories
// are relative to, "" for each repository's own.
func (p *Policy) gitConfig(file, top string, depth int) {
	if depth > maxGitChains {
		return
	}
	pl := p.start.resolve(file, true)
	seen := "file\x00" + p.key(pl.path) + "\x00" + p.key(top)
	if pl.kind != File || p.gitSeen[seen] {
		return
	}
	p.gitSeen[seen] = true
	for _, v := range ParseGitConfig(p.fs.ReadFile(pl.path)) {
		value, home := strings.CutPrefix(v.Value, "~/")
		if home {
			if p.opts.Home == "" {
				continue
			}
			value = child(p.opts.Home, value)
		}
		switch {
		case value == "":
		case v.IsInclude():
			inc := under(parent(file), value)
			if !p.files.GitConfig {
				p.denyOutsideDev(inc, includeRule)
			}
			p.gitConfig(inc, top, depth+1)
		case v.Key != "core.hookspath":
		case isAbs(value):
			p.protectHooks(value, top, "")
		case top == "":
			p.hooksRel = append(p.hooksRel, value)
		default:
			p.protectHooks(value, top, top)
		}
	}
}

// protectHooks denies writing to a directory of hooks. A directory called "_" (husky) holds wrappers for the scripts beside it.
func (p *Policy) protectHooks(value, top, base string) {
	dir := path.Clean(under(base, value))
	if strings.HasSuffix(dir, "/_") {
		dir = parent(dir)
	}
	if top != "" && inside(top, dir) {
		p.note("%q: core.hooksPath covers the whole repository, not protected", dir)
		return
	}
	p.denyOutsideDev(dir, hooksRule)
}

// denyOutsideDev leaves out /dev/null and the like, which people name to switch something off.
func (p *Policy) denyOutsideDev(path, rule string) {
	for _, top := range []string{"/dev", "/proc", "/sys"} {
		if inside(path, top) {
			return
		}
	}
	p.addDeny(path, rule)
}
