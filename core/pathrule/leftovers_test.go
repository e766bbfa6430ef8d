package pathrule_test

import (
	"slices"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
)

func TestLeftovers(t *testing.T) {
	clone := repo("/w/clone/.git")
	for name, c := range map[string]struct {
		before, after []string
		want          []string
	}{
		"nothing new":                 {before: with(repo("/w/.git"), "/w/.vscode/x", "/w/.git/hooks/pre-commit"), after: []string{"/w/f"}, want: nil},
		"an ordinary clone":           {after: clone, want: nil},
		"a clone with a .vscode":      {after: with(clone, "/w/clone/.vscode/tasks.json"), want: []string{`"/w/clone/.vscode": made by this command (.vscode: tasks)`}},
		"a name below a new .claude":  {after: []string{"/w/new/.claude/commands/x"}, want: []string{`"/w/new/.claude/commands": made by this command (.claude/commands)`}},
		"hooks in a new repository":   {after: with(clone, "/w/clone/.git/hooks/pre-commit"), want: []string{`"/w/clone/.git": made by this command, its hooks would run: "pre-commit"`}},
		"programs in a configuration": {after: with(clone, "/w/clone/.git/config = [core]\nfsmonitor=./x\n[alias]\na=!sh\nb=log\n[pager]\nlog=true"), want: []string{`"/w/clone/.git/config": made by this command, git would run or follow: core.fsmonitor, alias.a`}},
		"switches are no programs":    {after: with(clone, "/w/clone/.git/config = [core]\nfsmonitor=true\n[credential]\nhelper=store"), want: nil},
		"a bare repository in a directory that existed": {before: []string{"/w/docs/"}, after: []string{"/w/docs/HEAD", "/w/docs/objects/", "/w/docs/refs/", "/w/docs/hooks/pre-commit", "/w/docs/config = [core]\nfsmonitor=/x"},
			want: []string{`"/w/docs": made by this command, its hooks would run: "pre-commit"`, `"/w/docs/config": made by this command, git would run or follow: core.fsmonitor`}},
		"a new .git file that leads elsewhere": {before: []string{"/w/sub/"}, after: []string{"/w/sub/.git = gitdir: ../a/b/c/d/e/f", "/w/a/b/c/d/e/f/config = [core]\nhookspath=x"},
			want: []string{`"/w/a/b/c/d/e/f/config": made by this command, git would run or follow: core.hookspath`}},
		"an old .git file that leads to what the run made": {before: []string{"/w/p/.git = gitdir: ../src", "/w/src/main.c"}, after: []string{"/w/src/HEAD", "/w/src/hooks/pre-commit"},
			want: []string{`"/w/src": made by this command, its hooks would run: "pre-commit"`}},
		"deep inside of what the run made": {after: []string{"/w/n/a/b/c/d/.vscode/x"}, want: []string{`"/w/n/a/b/c/d/.vscode": made by this command (.vscode: tasks)`}},
		"a rebase that runs commands":      {before: repo("/w/.git"), after: []string{"/w/.git/rebase-merge/git-rebase-todo = pick a\nexec make\n"}, want: []string{`"/w/.git/rebase-merge/git-rebase-todo": the rebase under way goes on with commands`}},
		"a rebase that does not":           {before: repo("/w/.git"), after: []string{"/w/.git/rebase-merge/git-rebase-todo = pick a\n"}, want: nil},
		"a name with odd characters":       {after: []string{"/w/a\nb/.vscode/x"}, want: []string{`"/w/a\nb/.vscode": made by this command (.vscode: tasks)`}},
	} {
		t.Run(name, func(t *testing.T) {
			fs := memfs.New(append(c.before, "/w/")...)
			fs.Start()
			fs.Add(c.after...)
			var gitDirs []string
			if fs.Lstat("/w/.git") == pathrule.Dir {
				gitDirs = []string{"/w/.git"}
			}
			got := pathrule.Leftovers(fs, pathrule.Search{Roots: []string{"/w"}, GitDirs: gitDirs, Depth: 3, Sequences: []pathrule.Sequence{
				{Name: ".vscode", Parts: []string{".vscode"}, Reason: "tasks"}, {Name: ".claude/commands", Parts: []string{".claude", "commands"}}}})
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}
