package pathrule_test

import (
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
)

var table = []wire.Protected{{Name: ".git/hooks", Dir: true}, {Name: ".git/config"}, {Name: ".bashrc"}, {Name: ".vscode", Dir: true},
	{Name: ".claude/commands", Dir: true}, {Name: ".claude/settings.json"}}

func TestProtectedNames(t *testing.T) {
	run(t, map[string]rules{
		"an existing one is protected at each depth": {
			tree: []string{"/w/.bashrc", "/w/a/.bashrc", "/w/a/b/.bashrc", "/w/f"}, allowWrite: []string{"/w"}, protected: table,
			yes: []string{"create /w/f", "create /w/a/n"},
			no:  []string{"write /w/.bashrc | .bashrc", "write /w/a/.bashrc", "write /w/a/b/.bashrc", "remove /w/a/.bashrc", "rename /w/f /w/a/b/.bashrc", "rename /w/a /w/z"},
		},
		"below the search depth the content is open, and a missing one still cannot be made": {
			tree: []string{"/w/a/b/c/.bashrc", "/w/a/b/c/d/f"}, allowWrite: []string{"/w"}, protected: table,
			yes: []string{"write /w/a/b/c/.bashrc", "remove /w/a/b/c/.bashrc"}, no: []string{"create /w/a/b/c/d/.bashrc | .bashrc"},
		},
		"a missing one cannot come into being by any road": {
			tree: []string{"/w/f", "/w/sub/", "/w/v/tasks.json"}, allowWrite: []string{"/w"}, protected: table,
			yes: []string{"create /w/.bashrc2", "mkdir /w/.claude", "create /w/.claude"},
			no: []string{"create /w/.bashrc | .bashrc", "rename /w/f /w/sub/.bashrc", "link /w/f /w/.bashrc", "symlink /w/.bashrc", "mkdir /w/sub/.vscode", "rename /w/v /w/.vscode",
				"create /w/.vscode/tasks.json", "symlink /w/.claude", "symlink /w/.git"},
		},
		"everything in a protected directory is protected": {
			tree: []string{"/w/.vscode/a/b"}, allowWrite: []string{"/w"}, protected: table,
			no: []string{"write /w/.vscode/a/b", "create /w/.vscode/n", "remove /w/.vscode/a/b", "mkdir /w/.vscode/a/n", "rename /w/.vscode /w/v"},
		},
		"a sequence counts from a directory that existed, also when its first part is new": {
			tree: []string{"/w/x/"}, allowWrite: []string{"/w"}, protected: table, later: []string{"/w/.claude/", "/w/made/commands/c"},
			yes: []string{"create /w/.claude/notes"},
			no:  []string{"mkdir /w/.claude/commands | .claude/commands", "create /w/.claude/settings.json", "rename /w/made/commands /w/.claude/commands", "symlink /w/.claude/commands"},
		},
		"a directory that would carry one is not moved there": {
			tree: []string{"/w/x/"}, allowWrite: []string{"/w"}, protected: table, later: []string{"/w/made/commands/c", "/w/linked/commands -> /w/x", "/w/clean/notes"},
			yes: []string{"rename /w/clean /w/.claude"},
			no:  []string{"rename /w/made /w/.claude | .claude/commands", "rename /w/linked /w/.claude"},
		},
		"a directory that the command made may hold them": {
			tree: []string{"/w/x/"}, allowWrite: []string{"/w"}, protected: table, later: []string{"/w/new/sub/", "/w/new/.claude/"},
			yes: []string{"mkdir /w/new/.vscode", "create /w/new/.bashrc", "mkdir /w/new/.claude/commands", "create /w/new/sub/.bashrc"},
			no:  []string{"rename /w/new/.claude /w/.bashrc", "mkdir /w/x/.vscode"},
		},
		"denyWrite still holds in a directory that the command made": {
			tree: []string{"/w/x/"}, allowWrite: []string{"/w"}, protected: table, denyWrite: []string{"/w/new/.bashrc"}, later: []string{"/w/new/"},
			no: []string{"create /w/new/.bashrc | /w/new/.bashrc"},
		},
		"one that is a link is protected together with its target": {
			tree: []string{"/w/.bashrc -> dot/bashrc", "/w/dot/bashrc", "/w/.vscode -> vs", "/w/vs/tasks.json", "/w/.claude -> cl", "/w/cl/x"}, allowWrite: []string{"/w"}, protected: table,
			yes: []string{"create /w/cl/y", "create /w/dot/n"},
			no: []string{"remove /w/.bashrc", "write /w/.bashrc", "write /w/dot/bashrc", "rename /w/dot /w/d", "remove /w/.vscode", "create /w/vs/n", "remove /w/.claude",
				"mkdir /w/cl/commands | .claude/commands", "create /w/.claude/settings.json"},
		},
		"naming one in allowWrite does not lift it": {
			tree: []string{"/w/.vscode/a", "/w/.claude/commands/c", "/w/.claude/x"}, allowWrite: []string{"/w/.vscode", "/w/.claude", "/w/.bashrc", "/w/.vscode/a"}, protected: table,
			yes: []string{"write /w/.claude/x"},
			no:  []string{"write /w/.vscode/a", "create /w/.vscode/n", "write /w/.claude/commands/c", "create /w/.claude/settings.json", "create /w/.bashrc"},
		},
		"a protected name above the working directory does not count": {
			tree: []string{"/h/.vscode/ext/mine/f"}, allowWrite: []string{"/h/.vscode/ext/mine"}, protected: table, opts: pathrule.Options{Dir: "/h/.vscode/ext/mine"},
			yes: []string{"write /h/.vscode/ext/mine/f", "create /h/.vscode/ext/mine/n"}, no: []string{"mkdir /h/.vscode/ext/mine/.vscode"},
		},
		"a re-opened writable place is searched too": {
			tree: []string{"/w/h/p/.bashrc", "/w/h/p/f"}, allowWrite: []string{"/w"}, denyRead: []string{"/w/h"}, allowRead: []string{"/w/h/p"}, protected: table,
			yes: []string{"write /w/h/p/f"}, no: []string{"write /w/h/p/.bashrc"},
		},
		"re-opening one for reading does not make it writable": {
			tree: []string{"/w/.vscode/a/b", "/w/.vscode/f", "/w/.claude/commands/c", "/w/.claude/x", "/w/.bashrc"}, allowWrite: []string{"/w"}, denyRead: []string{"/w"},
			allowRead: []string{"/w/.vscode/a", "/w/.vscode/f", "/w/.claude", "/w/.bashrc"}, protected: table,
			yes: []string{"read /w/.vscode/a/b", "write /w/.claude/x"},
			no: []string{"write /w/.vscode/a/b", "create /w/.vscode/a/n", "write /w/.vscode/f | .vscode", "write /w/.claude/commands/c", "create /w/.claude/settings.json",
				"write /w/.bashrc"},
		},
		"nothing outside of writable trees matters": {
			tree: []string{"/w/f", "/o/.vscode/x"}, allowWrite: []string{"/w"}, protected: table, yes: []string{"read /o/.vscode/x"},
		},
		"case is ignored where the file system does": {
			tree: []string{"/w/.VSCODE/x"}, allowWrite: []string{"/w"}, protected: table, opts: pathrule.Options{FoldCase: true},
			no: []string{"write /w/.VSCODE/x", "create /w/.BashRC"},
		},
	})
}

// repo is what git init makes.
func repo(dir string) []string {
	return []string{dir + "/HEAD = ref: refs/heads/main", dir + "/config = [core]\n\tbare = false", dir + "/objects/", dir + "/refs/heads/", dir + "/hooks/pre-commit.sample", dir + "/info/exclude",
		dir + "/description", dir + "/branches/", dir + "/index"}
}

func with(base []string, more ...string) []string {
	return append(append([]string{}, base...), more...)
}

func TestGit(t *testing.T) {
	w := []string{"/w"}
	run(t, map[string]rules{
		"ordinary work in a repository": {
			tree: with(repo("/w/.git"), "/w/f"), allowWrite: w, protected: table, git: true,
			yes: []string{"create /w/.git/index.lock", "rename /w/.git/index.lock /w/.git/index", "create /w/.git/objects/ab", "mkdir /w/.git/rebase-merge", "create /w/.git/MERGE_MSG", "create /w/.git/config.lock",
				"mkdir /w/.git/worktrees", "mkdir /w/.git/modules", "mkdir /w/.git/worktrees/x", "create /w/.git/packed-refs.lock", "create /w/.git/refs/heads/x", "write /w/.git/info/exclude",
				"create /w/.git/gc.pid", "mkdir /w/.git/logs", "create /w/.git/index.stash.12", "create /w/.git/shallow", "mkdir /w/.git/lfs", "create /w/.git/.COMMIT_EDITMSG.swp", "create /w/.git/info/refs"},
		},
		"what git would run or follow is protected": {
			tree: with(repo("/w/.git"), "/w/f"), allowWrite: w, protected: table, git: true,
			no: []string{"write /w/.git/config", "create /w/.git/hooks/pre-commit", "rename /w/.git/config.lock /w/.git/config", "create /w/.git/commondir", "create /w/.git/config.worktree", "remove /w/.git/hooks",
				"rename /w/.git /w/g", "create /w/.git/info/attributes", "mkdir /w/.git/remotes", "create /w/.git/anything", "symlink /w/.git/hooks", "rename /w/.git/hooks /w/.git/logs", "rename /w/f /w/.git/config"},
		},
		"what git would run or follow stays protected where it is re-opened for reading": {
			tree: with(with(repo("/w/.git"), repo("/w/bare.git")...), "/w/.git/commondir = .", "/w/.git/modules/m/HEAD", "/w/.git/modules/m/hooks/x"), allowWrite: w, denyRead: w, protected: table, git: true,
			allowRead: []string{"/w/.git/hooks", "/w/.git/config", "/w/.git/commondir", "/w/.git/objects", "/w/.git/modules/m/hooks", "/w/bare.git/hooks", "/w/bare.git/config", "/w/bare.git/refs"},
			yes:       []string{"read /w/.git/config", "create /w/.git/objects/ab", "create /w/bare.git/refs/heads/x"},
			no: []string{"write /w/.git/config", "write /w/.git/hooks/pre-commit.sample", "create /w/.git/hooks/pre-commit", "write /w/.git/commondir", "write /w/.git/modules/m/hooks/x",
				"create /w/.git/modules/m/hooks/y", "write /w/bare.git/hooks/pre-commit.sample", "create /w/bare.git/hooks/pre-commit", "write /w/bare.git/config"},
		},
		"hooks that are not there cannot be made": {
			tree: []string{"/w/.git/HEAD", "/w/.git/objects/", "/w/.git/refs/"}, allowWrite: w, protected: table, git: true,
			no: []string{"mkdir /w/.git/hooks", "create /w/.git/config"},
		},
		"allowGitConfig lifts the configuration and not the hooks": {
			tree: repo("/w/.git"), allowWrite: w, git: true, gitConfig: true, protected: []wire.Protected{{Name: ".git/hooks", Dir: true}},
			yes: []string{"write /w/.git/config", "create /w/.git/config.worktree", "rename /w/.git/index /w/.git/config"},
			no:  []string{"create /w/.git/hooks/x", "create /w/.git/commondir"},
		},
		"lifting the hooks leaves the configuration protected": {
			tree: repo("/w/.git"), allowWrite: w, git: true, protected: []wire.Protected{{Name: ".git/config"}},
			yes: []string{"create /w/.git/hooks/x"}, no: []string{"write /w/.git/config"},
		},
		"a repository that the run made is its own": {
			tree: []string{"/w/x/"}, allowWrite: w, protected: table, git: true, later: with(repo("/w/.git"), "/w/clone/.git/", "/w/bare/"),
			yes: []string{"create /w/.git/hooks/x", "write /w/.git/config", "rename /w/.git /w/x/.git", "mkdir /w/clone/.git/hooks", "mkdir /w/bare/hooks", "create /w/x/.git"},
		},
		"nested, two levels down": {
			tree: repo("/w/a/.git"), allowWrite: w, protected: table, git: true,
			yes: []string{"create /w/a/f"}, no: []string{"write /w/a/.git/config", "create /w/a/.git/hooks/h", "rename /w/a /w/b"},
		},
		"a bare repository": {
			tree: with(repo("/w/b.git"), "/w/b.git/packed-refs"), allowWrite: w, protected: table, git: true,
			yes: []string{"create /w/b.git/refs/heads/x", "write /w/b.git/packed-refs"}, no: []string{"write /w/b.git/config", "create /w/b.git/hooks/post-receive", "rename /w/b.git /w/c", "create /w/b.git/new"},
		},
		"a worktree: its .git file, its directory and the shared one": {
			tree:       with(repo("/w/main/.git"), "/w/wt/.git = gitdir: /w/main/.git/worktrees/wt\n", "/w/main/.git/worktrees/wt/commondir = ../..\n", "/w/main/.git/worktrees/wt/HEAD", "/w/main/.git/worktrees/wt/gitdir = /w/wt/.git", "/w/wt/f"),
			allowWrite: w, protected: table, git: true,
			yes: []string{"create /w/main/.git/worktrees/wt/index.lock", "create /w/main/.git/worktrees/wt/logs", "create /w/main/.git/objects/x", "create /w/wt/n"},
			no:  []string{"write /w/wt/.git", "remove /w/wt/.git", "write /w/main/.git/worktrees/wt/commondir", "create /w/main/.git/worktrees/wt/config.worktree", "write /w/main/.git/config", "rename /w/wt /w/wu"},
		},
		"the shared directory of a worktree outside of the search": {
			tree:       with(repo("/o/r/s/t/main/.git"), "/w/.git = gitdir: /o/r/s/t/main/.git/worktrees/w\n", "/o/r/s/t/main/.git/worktrees/w/commondir = ../..\n", "/o/r/s/t/main/.git/worktrees/w/HEAD"),
			allowWrite: []string{"/w", "/o"}, protected: table, git: true, no: []string{"write /o/r/s/t/main/.git/config", "create /o/r/s/t/main/.git/hooks/h"},
		},
		"a submodule": {
			tree:       with(with(repo("/w/.git"), repo("/w/.git/modules/lib/s")...), "/w/lib/s/.git = gitdir: ../../.git/modules/lib/s\n"),
			allowWrite: w, protected: table, git: true,
			yes: []string{"create /w/.git/modules/lib/s/index.lock", "mkdir /w/.git/modules/other"},
			no:  []string{"write /w/.git/modules/lib/s/config", "create /w/.git/modules/lib/s/hooks/h", "write /w/lib/s/.git", "rename /w/.git/modules/lib /w/.git/modules/x"},
		},
		"a .git that is a link": {
			tree: with(repo("/w/real"), "/w/p/.git -> ../real", "/w/p/f"), allowWrite: w, protected: table, git: true,
			yes: []string{"create /w/real/index.lock"}, no: []string{"remove /w/p/.git", "write /w/real/config", "create /w/real/hooks/x"},
		},
		"an empty .git file is kept": {
			tree: []string{"/w/cache/.git"}, allowWrite: w, protected: table, git: true, yes: []string{"read /w/cache/.git"}, no: []string{"write /w/cache/.git", "remove /w/cache/.git"},
		},
		"core.hooksPath that exists or not": {
			tree:       with(repo("/w/.git"), "/w/.git/config = [core]\n\thooksPath = .hk\n[include]\n\tpath = ../.shared\n", "/w/.shared = [core]\n\thookspath = \"/w/more/hooks\"", "/w/.hk/pre-commit"),
			allowWrite: w, protected: table, git: true,
			no: []string{"create /w/.hk/x", "remove /w/.hk/pre-commit", "write /w/.shared | git reads it as configuration (include.path)", "mkdir /w/more/hooks", "symlink /w/more"},
		},
		"hook wrappers and the scripts beside them": {
			tree:       with(repo("/w/.git"), "/w/.git/config = [core]\n\thooksPath = .husky/_\n", "/w/.husky/_/h", "/w/.husky/pre-commit"),
			allowWrite: w, protected: table, git: true, no: []string{"write /w/.husky/_/h", "write /w/.husky/pre-commit", "create /w/.husky/post-commit"},
		},
		"a .git file that leads to no git directory": {
			tree: []string{"/w/p/.git = gitdir: ../src", "/w/src/main.c"}, allowWrite: w, protected: table, git: true,
			yes: []string{"write /w/src/main.c", "create /w/src/n"}, no: []string{"write /w/p/.git"},
		},
		"a .git link that leads to no git directory": {
			tree: []string{"/w/p/.git -> ../src", "/w/src/main.c"}, allowWrite: w, protected: table, git: true,
			yes: []string{"write /w/src/main.c", "create /w/src/n"}, no: []string{"remove /w/p/.git", "mkdir /w/src/hooks", "create /w/p/.git/config"},
		},
		"configuration files that include each other": {
			tree:       with(repo("/w/.git"), "/w/.git/config = "+strings.Repeat("[include]\npath = ../inc\n", 60), "/w/inc = "+strings.Repeat("[include]\npath = inc\n", 60)+"[core]\nhooksPath = hk"),
			allowWrite: w, protected: table, git: true, no: []string{"mkdir /w/hk", "write /w/inc"},
		},
		"hooks switched off, or in everything": {
			tree:       with(repo("/w/.git"), "/w/.git/config = [core]\n\thooksPath = /dev/null\n[include]\n\tpath = x\n", "/dev/null", "/w/a/.git/HEAD", "/w/a/.git/config = [core]\nhooksPath=."),
			allowWrite: []string{"/"}, protected: table, git: true, yes: []string{"write /dev/null", "create /w/a/f"}, no: []string{"create /w/.git/x"},
		},
		"the user's own configuration names hooks": {
			tree:       with(repo("/w/r/.git"), "/h/.gitconfig = [core]\n\thooksPath = ~/w/hooks\n[includeIf \"gitdir:/w/\"]\n\tpath = inc\n", "/h/inc = [core]\n\thooksPath=tools\n", "/h/w/f", "/w/r/tools/pre-commit"),
			allowWrite: []string{"/w", "/h"}, protected: table, git: true, opts: pathrule.Options{Home: "/h"},
			no: []string{"mkdir /h/w/hooks", "write /h/inc", "write /w/r/tools/pre-commit"},
		},
		"the repository above a writable directory names hooks in it": {
			tree:       with(repo("/r/.git"), "/r/.git/config = [core]\n\thooksPath = src/hooks\n", "/r/src/hooks/h", "/r/src/f"),
			allowWrite: []string{"/r/src"}, protected: table, git: true, yes: []string{"write /r/src/f"}, no: []string{"write /r/src/hooks/h", "write /r/.git/config"},
		},
		"without the git rules only the table counts": {
			tree: repo("/w/.git"), allowWrite: w, protected: []wire.Protected{{Name: ".git/hooks", Dir: true}},
			yes: []string{"write /w/.git/config", "create /w/.git/commondir"}, no: []string{"create /w/.git/hooks/x"},
		},
	})
}

func TestNamesThatGitWorkMayChange(t *testing.T) {
	for _, name := range []string{"HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "BISECT_LOG", "ADD_EDIT.patch", "index", "index.lock", "config.lock", "objects", "shallow_a1", "sharedindex_x", "packed-refs.new", ".MERGE_MSG.swp", "gc.pid.lock"} {
		if !pathrule.GitMayChange(name) {
			t.Errorf("%q is protected", name)
		}
	}
	for _, name := range []string{"", "hooks", "config", "config.worktree", "commondir", "gitdir", "HOOKS", "Hooks", "CONFIG", "Config.worktree", "COMMONDIR", "remotes", "anything", "indexes", "gc.lock2"} {
		if pathrule.GitMayChange(name) {
			t.Errorf("%q is open", name)
		}
	}
	g := pathrule.GitDir{Open: []string{"config"}}
	if !g.Allows("config") || !g.Allows("config.lock") || g.Allows("hooks") || g.Allows("config.worktree") {
		t.Error("the lifted names are not what is open")
	}
}

func TestGitConfigValues(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"sections, subsections and case": {"[Core]\n\tHooksPath = a\n[remote \"Or\\\"igin\"]\nurl=b", "core.hookspath||a remote.url|Or\"igin|b"},
		"old subsections":                {"[branch.main]\nremote = o", "branch.remote|main|o"},
		"quotes, escapes, comments":      {"[a]\nb = \"x # y\" z ; c\nd = q\\tr\\\\ # c", "a.b||x # y z a.d||q\tr\\"},
		"continued lines":                {"[a]\nb = x \\\n y\nc", "a.b||x  y a.c||true"},
		"several on one line":            {"[a] b = c\n[d]e=f", "a.b||c d.e||f"},
		"carriage returns and a mark":    {"\ufeff[a]\r\nb = c\r\n", "a.b||c"},
		"blanks at the end":              {"[a]\nb = c \t \nd = \"e \"", "a.b||c a.d||e "},
		"rubbish":                        {"]]\n=x\n[a\nb = c\n\\", "a.b||c"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range pathrule.ParseGitConfig([]byte(c.text)) {
				got = append(got, v.Key+"|"+v.Sub+"|"+v.Value)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

func FuzzGitConfig(f *testing.F) {
	f.Add([]byte("[core]\n\thooksPath = \"a\\\"b\" # c\n[include \"x\"] path = y\\\nz"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, v := range pathrule.ParseGitConfig(b) {
			if v.Key != strings.ToLower(v.Key) || !strings.Contains(v.Key, ".") || v.Value != "true" && len(v.Value) > len(b) {
				t.Fatalf("%q gives %+v", b, v)
			}
		}
	})
}

func TestNotesNameWhatDoesNothing(t *testing.T) {
	fs := memfs.New("/w/f", "/w/.vscode/x")
	p, err := pathrule.New(wire.FilePolicy{DenyRead: entries([]string{"/gone"}), AllowWrite: entries([]string{"/w/.vscode", "/x/y/z"}), Protected: table}, fs)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(p.Notes(), "\n")
	for _, want := range []string{`denyRead "/gone": does not exist`, `allowWrite "/x/y/z": the directory above it does not exist, so nothing can be created there`, `allowWrite "/w/.vscode": protected (.vscode)`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}

func TestGitFiles(t *testing.T) {
	for text, want := range map[string]string{"gitdir: ../x/y\n": "../x/y", "gitdir: /a b \nrest": "/a b ", "gitdir: x\r\n": "x", "gitdir:x": "", "": "", "gitdir: \n": "", "gitdir: a\x00b\n": ""} {
		got, ok := pathrule.ParseGitFile([]byte(text))
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q gives %q, %v", text, got, ok)
		}
	}
	if got, ok := pathrule.ParseCommonDir([]byte("../..\n")); !ok || got != "../.." {
		t.Errorf("got %q, %v", got, ok)
	}
}
