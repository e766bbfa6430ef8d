package supervise

import "github.com/srt-dev/srt/core/pathrule"

// inGitDir gives the rule that protects a name directly in a git directory that existed: git would run or follow it. A directory that
// only differs in case counts as the same, because where both exist the stricter reading harms nobody.
func (w *worker) inGitDir(dir, name []byte) *rule {
	r := w.rules
	if len(r.gitDirs) == 0 || len(dir) > r.longestGitDir {
		return nil
	}
	q := r.gitDirs[string(foldInto(w.foldPath[:0], dir))]
	if q == nil {
		return nil
	}
	last := string(bare(name))
	if last == "" || last == "." || last == ".." {
		return nil // names nothing new
	}
	if (&pathrule.GitDir{Open: q.name.Open}).Allows(last) {
		return nil
	}
	return q
}
