package supervise

import (
	"os/exec"
	"strings"
	"testing"
)

// TestPrograms runs real programs under supervision; each script must end with status 0.
func TestPrograms(t *testing.T) {
	for name, c := range map[string]struct{ needs, script string }{
		"git: init, commit, rebase, stash, gc": {"git", `git init -q -b main r && cd r && for i in 1 2 3; do echo $i > f$i; git add .; git commit -qm c$i; done && git config user.x y &&
			git checkout -qb b HEAD~1 && echo z > z && git add z && git commit -qm z && git rebase -q main && echo q >> f1 && git stash -q && git stash pop -q && git gc -q && git fsck`},
		"git: clone, worktree, push": {"git", `git init -q -b main r && (cd r && echo 1 > f && git add f && git commit -qm c) && git clone -q r r2 && cd r2 && git worktree add -q ../wt -b wt &&
			git checkout -qb n && echo 1 > n && git add n && git commit -qm n && git push -qu origin n && test "$(cat r/f ../r/f 2>/dev/null)" = 1`},
		"tar: modes, links, times, FIFOs": {"tar", `mkdir -p t/a/b; echo 1 > t/a/f; ln t/a/f t/a/h; ln -s f t/a/s; mkfifo t/p; chmod 4711 t/a/f; chmod 1777 t/a/b; tar cf t.tar t && mkdir x && tar xpf t.tar -C x &&
			diff <(cd t; find . -printf "%p %y %m %n %l %Ts\n" | sort) <(cd x/t; find . -printf "%p %y %m %n %l %Ts\n" | sort)`},
		"bash: redirections, here-documents, FIFOs": {"bash", `echo a > /dev/null; exec 7>e; echo a > /dev/fd/7; cat <<< x > /dev/null; cat <(echo 1) > pso; mkfifo ff; (echo 1 > ff &) ; read v < ff; [ "$v" = 1 ] &&
			echo q | tee /dev/fd/7 >/dev/null && grep -q q e && set -C && ! (echo 1 > pso)`},
		"bash: a FIFO open ends by a signal":                 {"timeout", `mkfifo f9; timeout 0.3 sh -c "echo > f9"; [ $? = 124 ]`},
		"coreutils: install, cp -a, mv, ln, sed -i, sort -o": {"install", `mkdir t; echo b > sf && sed -i s/b/c/ sf && sort -o sf sf && install -m 640 sf si && cp -a t ta && mv ta tb && ln -sfn t lk && ln -sfn x lk && mkdir -p a/b/c/d && rm -r a`},
		"tmux": {"tmux", `tmux -S $TMPDIR/tm new-session -d "echo in > tm.out; sleep 1" && sleep 0.5 && tmux -S $TMPDIR/tm ls && tmux -S $TMPDIR/tm kill-server; grep -q in tm.out`},
		"python: multiprocessing, asyncio": {"python3", `python3 -c '
import multiprocessing as m, asyncio
from multiprocessing.managers import SyncManager
m.set_start_method("forkserver")
s = SyncManager(); s.start(); d = s.dict(); d[1] = 2; assert d[1] == 2; s.shutdown()
async def main():
    async def h(r, w): w.write(await r.readline()); await w.drain(); w.close()
    s = await asyncio.start_unix_server(h, "as.sock"); r, w = await asyncio.open_unix_connection("as.sock"); w.write(b"hi\n"); assert await r.readline() == b"hi\n"
asyncio.run(main())'`},
		"python: temporary files":                         {"python3", `python3 -c 'import tempfile, shutil; d = tempfile.mkdtemp(); f = tempfile.NamedTemporaryFile(dir=d); f.write(b"x"); f.close(); shutil.rmtree(d)'`},
		"ssh-agent: a caller that made itself unreadable": {"ssh-agent", `eval $(ssh-agent -a $TMPDIR/ag) >/dev/null && ssh-keygen -q -t ed25519 -N "" -f k && SSH_AUTH_SOCK=$TMPDIR/ag ssh-add -q k; s=$?; kill $SSH_AGENT_PID; exit $s`},
		"a setuid program is inert":                       {"su", `! su -c true root </dev/null`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skipf("no %s here", c.needs)
			}
			users(t, func(t *testing.T, uid int) {
				if uid == 0 && c.needs == "su" {
					return // root may become root
				}
				dir := workDir(t, uid, "tmp/", "home/", "w/")
				head := "export HOME=" + dir + "/home TMPDIR=" + dir + "/tmp PATH=/usr/local/bin:/usr/bin:/bin GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; "
				o := run(t, setup{Dir: dir + "/w", Uid: uid, Argv: []string{"bash", "-c", head + c.script}, Names: usualNames(dir), Private: []string{dir + "/tmp"}})
				if o.Status != 0 {
					t.Errorf("status %d, output:\n%s\nviolations: %+v", o.Status, strings.TrimSpace(o.Out), o.Violations)
				}
			})
		})
	}
}
