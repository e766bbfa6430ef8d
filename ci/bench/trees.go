package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// What work on files costs: the same command in the sandbox, where creating a name goes through the supervisor, and in raw bwrap, where
// it does not. Every run works in a directory of its own: removing an old tree just before hides the cost.

// A job is one command; $1 is a fresh directory and the working directory holds what prepare made.
type job struct {
	name, script string
	rounds       int
	needs        string
}

var jobs = []job{
	{"untar of 20,000 tiny files", `tar -xf tiny.tar -C "$1"`, 10, "tar"},
	{"git clone of 2,000 files", `git clone -q --no-hardlinks repo "$1/clone"`, 10, "git"},
	{"npm install of 20 local packages", `cp package.json "$1" && cd "$1" && npm install --silent --offline --no-audit --no-fund --cache "$1/cache"`, 5, "npm"},
	{"go build of 40 packages", `cp -r code "$1/code" && cd "$1/code" && for p in p*; do echo "const Run = \"$1\"" >>"$p/p.go"; done &&
		GOFLAGS= GOWORK=off GOCACHE="$OLDPWD/cache" GOTMPDIR="$1" go build ./...`, 5, "go"}, // the first run fills the cache with the standard library
	{"git status in 2,000 files, 100 times", `for i in $(seq 100); do git -C repo status --porcelain; done`, 5, "git"},
	{"find in 20,000 files, 40 times", `for i in $(seq 40); do find tiny -name nothing; done`, 5, "find"},
}

func (b *bench) trees() error {
	dir := filepath.Join(b.dir, "trees")
	if err := makeTrees(dir); err != nil {
		return err
	}
	// What earlier runs left must not be searched: only this run's directory is writable, the build cache and the repository.
	ours := func(more string) func(target string) []string {
		return func(target string) []string {
			return b.sandbox(fmt.Sprintf(`{%s"filesystem":{"allowWrite":[%q,"cache","repo"]}}`, more, target))
		}
	}
	floors := []floor{
		// With --as-pid-1 bwrap waits for the command, or its processor time would be lost.
		{"raw bwrap", ours(""), func(string) []string {
			return []string{b.bwrap, "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid", "--as-pid-1"}
		}},
	}
	if os.Geteuid() == 0 {
		weaker := ours(`"enableWeakerNestedSandbox":true,`)
		without := func(target string) []string { return b.mounting("mount --bind /proc/sys /proc/sys", weaker(target)) }
		argv := append(without(dir), "true")
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil || !strings.Contains(string(out), "unix sockets are refused") {
			return fmt.Errorf("srt does not say that it runs without the supervisor: %w: %s", err, out)
		}
		floors = append(floors, floor{"no supervisor", func(target string) []string { return b.mounting("true", ours("")(target)) }, without})
	} else {
		fmt.Fprintln(os.Stderr, "bench: work on files without the supervisor: left out: only root can mount here")
	}
	for _, j := range jobs {
		if _, err := exec.LookPath(j.needs); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: left out: %v\n", j.name, err)
			continue
		}
		for _, f := range floors {
			if err := b.work(j, f, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// A floor is two beginnings of a command line that works in a directory: what is measured, and what it is measured against.
type floor struct {
	name        string
	ours, floor func(target string) []string
}

// mounting runs script, which may mount, in a mount namespace of its own and goes on as argv. Where a part of /proc is covered srt can run no
// supervisor, which is the only way to be without it.
func (b *bench) mounting(script string, argv []string) []string {
	return append([]string{"unshare", "-m", "--propagation", "private", "sh", "-ec", script + `; exec "$@"`, "sh"}, argv...)
}

// work measures one job, each run in a directory of its own.
func (b *bench) work(j job, f floor, dir string) error {
	wall, cpu := newSeries(j.name, "ms", f.name), newSeries(j.name+", processor", "ms", f.name)
	err := inTurn(b.rounds(j.rounds), func(sandboxed bool) (cost, error) {
		target, err := os.MkdirTemp(dir, "run")
		if err != nil {
			return cost{}, err
		}
		argv := f.floor(target)
		if sandboxed {
			argv = f.ours(target)
		}
		return timed(append(argv, "sh", "-ec", j.script, "sh", target), dir)
	}, wall, cpu)
	if err != nil {
		return err
	}
	b.report.add(wall, cpu)
	return nil
}

// inTurn measures pairs, in the other order each second round. The first pair warms the caches and is not counted.
func inTurn(rounds int, run func(sandboxed bool) (cost, error), wall, cpu *series) error {
	for r := range rounds + 1 {
		var got [2]cost
		for i := range 2 {
			which := (i + r) % 2
			c, err := run(which == 0)
			if err != nil {
				return err
			}
			got[which] = c
		}
		if r > 0 {
			wall.add(got[0].wallMs, got[1].wallMs)
			cpu.add(got[0].cpuMs, got[1].cpuMs)
		}
	}
	return nil
}

func makeTrees(dir string) error {
	if err := makeFiles(filepath.Join(dir, "tiny"), 200, 100); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "cache"), 0o755); err != nil {
		return err
	}
	if err := makeFiles(filepath.Join(dir, "repo"), 20, 100); err != nil {
		return err
	}
	var deps []string
	for i := range 20 {
		p := filepath.Join(dir, "packages", "p"+strconv.Itoa(i))
		if err := makeFiles(filepath.Join(p, "package"), 5, 20); err != nil {
			return err
		}
		manifest := fmt.Sprintf(`{"name":"p%d","version":"1.0.0"}`, i)
		if err := os.WriteFile(filepath.Join(p, "package", "package.json"), []byte(manifest), 0o644); err != nil {
			return err
		}
		deps = append(deps, fmt.Sprintf(`"p%d":"file:%s.tgz"`, i, p))
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"dependencies":{`+strings.Join(deps, ",")+`}}`), 0o644); err != nil {
		return err
	}
	for i := range 40 {
		p := filepath.Join(dir, "code", "p"+strconv.Itoa(i))
		if err := os.MkdirAll(p, 0o755); err != nil {
			return err
		}
		code := fmt.Sprintf("package p%d\n\nimport \"fmt\"\n\n// Say says it.\nfunc Say() { fmt.Println(%d) }\n\n", i, i)
		if err := os.WriteFile(filepath.Join(p, "p.go"), []byte(code), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "code", "go.mod"), []byte("module bench\n\ngo 1.26\n"), 0o644); err != nil {
		return err
	}
	_, err := timed([]string{"sh", "-ec", `tar -cf tiny.tar tiny
		for p in packages/*; do tar -czf "$p.tgz" -C "$p" package; done
		cd repo && git init -q && git add . && git -c user.name=n -c user.email=e@x commit -qm one`}, dir)
	return err
}

func makeFiles(dir string, dirs, each int) error {
	for i := range dirs {
		d := filepath.Join(dir, strconv.Itoa(i))
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
		for j := range each {
			if err := os.WriteFile(filepath.Join(d, strconv.Itoa(j)), []byte("tiny\n"), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// scale measures a start where there is much to look at and much to protect.
func (b *bench) scale() error {
	big := filepath.Join(b.dir, "big")
	if err := makeFiles(big, 100, 1000); err != nil {
		return err
	}
	for i := range 50 {
		git := filepath.Join(big, strconv.Itoa(i), ".git")
		for _, d := range []string{"hooks", "objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(git, d), 0o755); err != nil {
				return err
			}
		}
		for _, f := range []string{"HEAD", "config"} {
			if err := os.WriteFile(filepath.Join(git, f), nil, 0o644); err != nil {
				return err
			}
		}
	}
	many := filepath.Join(b.dir, "many")
	if err := makeFiles(many, 1, 3000); err != nil {
		return err
	}
	denied := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"0/%d"`, i))
		}
		return `{"filesystem":{"allowWrite":["."],"denyWrite":[` + strings.Join(list, ",") + `]}}`
	}
	raw := []string{b.bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid", "true"}
	for _, c := range []struct{ name, dir, settings string }{
		{"`srt true` in a tree of 100,000 files with 50 repositories", big, `{"filesystem":{"allowWrite":["."]}}`},
		{"`srt true` with 1,000 denied paths", many, denied(1000)},
		{"`srt true` with 3,000 denied paths", many, denied(3000)},
	} {
		argv := append(b.sandbox(c.settings), "true")
		wall, cpu := newSeries(c.name, "ms", "raw bwrap"), newSeries(c.name+", processor", "ms", "raw bwrap")
		err := inTurn(b.rounds(20), func(sandboxed bool) (cost, error) {
			if sandboxed {
				return timed(argv, c.dir)
			}
			return timed(raw, c.dir)
		}, wall, cpu)
		if err != nil {
			return err
		}
		b.report.add(wall, cpu)
	}
	return nil
}
