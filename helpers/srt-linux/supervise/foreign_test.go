package supervise

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// TestForeignNamespaces runs a shell in a mount namespace of its own below the command. Each line of the script prints one answer.
func TestForeignNamespaces(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"a bind mount gives no other name": {`mount --bind . mnt; try touch mnt/.bashrc; try mkdir mnt/.claude; try mkdir mnt/.claude/commands
			mount --bind .claude m2; try mkdir m2/commands; try touch mnt/ok; try touch mnt/deny`, "no ok no no ok no"},
		"no directory from before is moved": {`mount --bind . mnt; try mv mnt/old mnt/new; mkdir fresh; try mv mnt/fresh mnt/fresher`, "no ok"},
		"no link for a part":                {`mount --bind . mnt; try ln -s /tmp mnt/.claude; try ln -s /tmp mnt/other`, "no ok"},
		"a repository of its own":           {`mount --bind . mnt; mkdir -p mnt/r/.git; try mkdir mnt/r/.git/hooks; try touch mnt/r/.git/config`, "ok ok"},
		"paths start at the caller's root": {`mkdir -p jail/bin jail/usr jail/lib64 jail/lib jail/d; for d in bin usr lib lib64; do mount --rbind /$d jail/$d 2>/dev/null; done
			chroot jail /bin/sh -c 'cd /d && : > /made && : > made2 && : > ../../../up && ln -s /made l && : > l2 && : > /d/../d/x'; try test -e jail/made; try test -e jail/d/made2; try test -e jail/up; try test -e jail/d/x; try test -e /made`, "ok ok ok ok no"},
		"a host socket under an allowed name":      {`mount --bind host.sock allowed.sock; p="import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"; try python3 -c "$p" allowed.sock; try python3 -c "$p" real.sock; try python3 -c "$p" host.sock`, "no ok no"},
		"no socket of the host is moved or linked": {`mount --bind . mnt; mkdir mnt/fresh; try ln mnt/host.sock mnt/fresh/s; try mv mnt/host.sock mnt/allowed.sock; touch mnt/fresh/f; try mv mnt/fresh mnt/fresher`, "no no ok"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, uid := range []int{1001} { // uid 0 needs a capability for a user namespace that maps it
				dir := workDir(t, uid, "mnt/", "m2/", "old/", "allowed.sock")
				hostSocket(t, filepath.Join(dir, "host.sock"), uid)
				hostSocket(t, filepath.Join(dir, "real.sock"), uid)
				script := filepath.Join(dir, "script")
				text := "cd " + dir + "\ntry() { if \"$@\" >/dev/null 2>&1; then printf 'ok '; else printf 'no '; fi; }\n" + c.script
				if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
				names := append(sequence(".bashrc", ".claude/commands/", ".git/hooks/", ".git/config"), view.Name{Kind: view.NamePath, Path: dir + "/deny"})
				o := run(t, setup{Dir: dir, Uid: uid, Nested: true, Names: names, Sockets: []wire.PathEntry{{Path: dir + "/allowed.sock"}, {Path: dir + "/real.sock"}},
					Argv: []string{"unshare", "-Urm", "bash", script}})
				if got := strings.TrimSpace(o.Out); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}
