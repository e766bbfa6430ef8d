package supervise

import "testing"

// What cannot have left anything that something could run later needs no look for it at the end.
func TestOnlyWhatCouldLeaveSomethingMayHaveLeftSomething(t *testing.T) {
	for name, c := range map[string]struct {
		tree  []string
		steps []step
		want  bool
	}{
		"nothing":                                       {nil, steps("read f", "ENOENT"), false},
		"a file":                                        {nil, steps("creat f", "ok", "rename f g", "ok", "link g h", "ok", "symlink g l", "ok"), false},
		"a change":                                      {[]string{"f"}, steps("write f", "ok", "creat f", "ok", "unlink f", "ok"), false},
		"a directory":                                   {nil, steps("mkdir d", "ok"), true},
		"a directory that is gone again":                {nil, steps("mkdir d", "ok", "rmdir d", "ok"), true},
		"a directory that was refused":                  {nil, steps("mkdir .bashrc", "EACCES"), false},
		"a configuration in an old repository":          {[]string{"r/.git/HEAD"}, steps("creat r/.git/config", "ok"), true},
		"one that was written beside":                   {[]string{"r/.git/HEAD"}, steps("creat r/.git/config.lock", "ok", "rename r/.git/config.lock r/.git/config", "ok"), true},
		"one that was exchanged":                        {[]string{"r/config", "n"}, steps("exchange r/config n", "ok"), true},
		"one by a second name":                          {[]string{"f"}, steps("link f config.worktree", "ok"), true},
		"one by a link":                                 {[]string{"f"}, steps("symlink f config", "ok"), true},
		"a list of what a rebase does":                  {nil, steps("tmpfile ./git-rebase-todo", "ok"), true},
		"what looks the same where case does not count": {nil, steps("creat Config", "ok"), true},
	} {
		t.Run(name, func(t *testing.T) {
			o := runSteps(t, setup{Dir: workDir(t, 1001, c.tree...), Uid: 1001, Names: sequence(".bashrc")}, c.steps)
			if o.Left != c.want {
				t.Errorf("may have left something: %v, want %v\n%s", o.Left, c.want, o.Out)
			}
		})
	}
}
