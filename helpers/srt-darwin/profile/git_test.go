package profile

import (
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

// gitNames are names directly in a git directory: what git makes, what it runs or follows, and other spellings of both.
var gitNames = strings.Fields(`HEAD ORIG_HEAD FETCH_HEAD MERGE_MSG COMMIT_EDITMSG COMMIT_EDITMSG~ COMMIT_EDITMSG.save BISECT_LOG AUTO_MERGE
	index index.lock index.stash.17 next-index-17 sharedindex.0a sharedindex_x1 shallow shallow_x1 shallow.lock tmp_x1 objects refs logs
	packed-refs packed-refs.new packed-refs.lock config.lock hooks.lock fsmonitor--daemon fsmonitor--daemon.ipc fast_import_crash_17 .swp
	config hooks config.worktree commondir gitdir alternates x attributes
	Config CONFIG Hooks HOOKS hOOKS Commondir CONFIG.WORKTREE Index REFS Objects head Head Info`)

// TestGitNames: the expressions for a git directory say of every name what pathrule.GitMayChange says.
func TestGitNames(t *testing.T) {
	const dotGit, bare, capitals = "/Users/u/p/.git", "/Users/u/p/repo.git", "/Users/u/p/sub/.GIT"
	j, _, _ := build(t, golden{AllowWrite: []string{"/Users/u/p"}, GitRules: true, Protected: "all"}, dotGit+"/HEAD", dotGit+"/info/", bare+"/HEAD", bare+"/objects/", bare+"/refs/", bare+"/info/", capitals+"/HEAD", capitals+"/info/")
	for _, name := range gitNames {
		for _, dir := range []string{dotGit, bare, capitals} {
			answers(t, j, sbpltest.Query{Op: "file-write-create", Path: dir + "/" + name, Vnode: sbpltest.Regular}, pathrule.GitMayChange(name))
			answers(t, j, sbpltest.Query{Op: "file-write-data", Path: dir + "/" + name + "/x", Vnode: sbpltest.Regular}, pathrule.GitMayChange(name))
		}
	}
	for _, name := range []string{"attributes", "Attributes", "ATTRIBUTES"} {
		answers(t, j, sbpltest.Query{Op: "file-write-create", Path: dotGit + "/info/" + name, Vnode: sbpltest.Regular}, false)
	}
	answers(t, j, sbpltest.Query{Op: "file-write-create", Path: dotGit + "/info/exclude", Vnode: sbpltest.Regular}, true)
}

// TestNoGitNameIsTwo: what may be changed in a git directory is never another spelling of what may not, on a volume that ignores case.
func TestNoGitNameIsTwo(t *testing.T) {
	for _, dangerous := range []string{"hooks", "config", "config.worktree", "commondir", "gitdir"} {
		for bits := range 1 << len(dangerous) {
			name := []byte(dangerous)
			for i := range name {
				if bits&(1<<i) != 0 {
					name[i] = strings.ToUpper(string(name[i]))[0]
				}
			}
			if pathrule.GitMayChange(string(name)) {
				t.Fatalf("%s may be changed", name)
			}
		}
	}
}
