package mounts

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// lists are the targets of a view, below the directory of the test.
type lists struct{ write, reopen, readOnly, hide, once []string }

func (l lists) view(dir, cwd string) view.View {
	targets := func(names []string) (out []view.Target) {
		for _, n := range names {
			p, link := strings.CutSuffix(n, "@")
			out = append(out, view.Target{Path: strings.TrimSuffix(filepath.Join(dir, p), "/"), Rule: p, Link: link})
		}
		return out
	}
	return view.View{Write: targets(l.write), Reopen: targets(l.reopen), ReadOnly: targets(l.readOnly), Hide: targets(l.hide),
		CreateOnce: targets(l.once), Cwd: filepath.Join(dir, cwd)}
}

// among gives a tree and a view of it that protects so many other files that they are covered by their names.
func among(tree []string, l lists) ([]string, lists) {
	for i := range manyFiles {
		f := fmt.Sprintf("w/~%d", i)
		tree, l.readOnly = append(tree[:len(tree):len(tree)], f), append(l.readOnly[:len(l.readOnly):len(l.readOnly)], f)
	}
	return tree, l
}

// calls are pairs of a call and its answer.
func calls(pairs ...string) (c, want []string) {
	for i := 0; i < len(pairs); i += 2 {
		c, want = append(c, pairs[i]), append(want, pairs[i]+": "+pairs[i+1])
	}
	return c, want
}

func TestTheMachineInProcIsHidden(t *testing.T) {
	dir := tree(t, "w/f")
	v := lists{}.view(dir, "w")
	v.Hide = []view.Target{{Path: "/proc/cpuinfo"}, {Path: "/proc/sys/kernel", Dir: true}, {Path: "/proc/nothing"}}
	c, want := calls("read /proc/cpuinfo", "EACCES", "list /proc/sys/kernel", "EACCES", "read /proc/sys/kernel/ostype", "ENOENT", "read /proc/meminfo", "ok", "read /proc/sys/fs/file-max", "ok",
		"read /proc/keys", "ok")
	o := run(t, setup{View: v, Dir: filepath.Join(dir, "w"), Inside: c})
	if o.Apply != "" || o.Verify != "" || !slices.Equal(o.Lines, want) {
		t.Errorf("%+v\nwant %q", o, want)
	}
}

func TestEachStep(t *testing.T) {
	for name, c := range map[string]struct {
		tree   []string
		lists  lists
		inside []string // relative to the working directory, which is w
	}{
		"without steps all is read-only": {[]string{"w/f"}, lists{}, []string{
			"read f", "ok", "write f", "EROFS", "make n", "EROFS", "remove f", "EROFS", "write /dev/null", "ok", "make /dev/n", "EROFS", "make /dev/shm/n", "ok", "shut /proc/sys/kernel/core_pattern", "ok"}},
		"a writable directory": {[]string{"w/f", "o/f"}, lists{write: []string{"w"}}, []string{
			"write f", "ok", "make n", "ok", "rename f g", "ok", "remove n", "ok", "write ../o/f", "EROFS", "make ../n", "EROFS", "remove ../w", "EROFS"}},
		"a writable file": {[]string{"w/f", "w/g"}, lists{write: []string{"w/f"}}, []string{
			"write f", "ok", "write g", "EROFS", "make n", "EROFS", "remove f", "EROFS"}},
		"a protected file and a protected directory": {[]string{"w/f", "w/d/x/y", "w/g"}, lists{write: []string{"w"}, readOnly: []string{"w/d", "w/f"}}, []string{
			"read f", "ok", "write f", "EROFS", "remove f", "EBUSY", "rename f h", "EBUSY", "rename g f", "EBUSY", "link f h", "EXDEV",
			"write d/x/y", "EROFS", "make d/n", "EROFS", "make d/x/n", "EROFS", "remove d/x/y", "EROFS", "rename d e", "EBUSY", "write g", "ok", "make n", "ok"}},
		"protected files in many directories": {[]string{"w/a/1", "w/a/2", "w/a.b/1", "w/a/c/1", "w/b/1", "w/b/2"},
			lists{write: []string{"w"}, readOnly: []string{"w/a.b/1", "w/a/1", "w/a/c/1", "w/b/1"}}, []string{
				"write a/1", "EROFS", "write a/2", "ok", "write a.b/1", "EROFS", "write a/c/1", "EROFS", "write b/1", "EROFS", "write b/2", "ok"}},
		"a protected file in a writable directory inside a writable one": {[]string{"w/in/f", "w/in/g"}, lists{write: []string{"w", "w/in"}, readOnly: []string{"w/in/f"}}, []string{
			"write in/f", "EROFS", "write in/g", "ok", "remove in/f", "EBUSY"}},
		"a link is covered itself": {[]string{"w/f", "w/l -> f", "w/gone -> nowhere"}, lists{write: []string{"w"}, readOnly: []string{"w/gone@", "w/l@"}}, []string{
			"write l", "ok", "remove l", "EBUSY", "rename f l", "EBUSY", "remove gone", "EBUSY", "symlink f gone", "EEXIST", "read l", "ok"}},
		"a hidden file and a hidden directory": {[]string{"w/f", "w/d/x", "w/g"}, lists{write: []string{"w"}, hide: []string{"w/d", "w/f"}}, []string{
			"stat f", "ok", "read f", "EACCES", "write f", "EACCES", "chmod f", "EROFS", "remove f", "EBUSY", "rename g f", "EBUSY",
			"list d", "EACCES", "stat d/x", "ENOENT", "read d/x", "ENOENT", "make d/n", "EROFS", "rename d e", "EBUSY", "read d/../g", "ok"}},
		"re-opened inside a hidden directory": {[]string{"w/h/s", "w/h/in/f", "w/h/in/d/", "w/h/out/f", "w/h/one", "w/h/l -> in/f"},
			lists{write: []string{"w/h/out"}, reopen: []string{"w/h/in", "w/h/l@", "w/h/one"}, hide: []string{"w/h"}}, []string{
				"list h", "EACCES", "stat h/s", "ENOENT", "read h/in/f", "ok", "write h/in/f", "EROFS", "list h/in", "ok", "make h/in/d/n", "EROFS", "write h/out/f", "ok", "make h/out/n", "ok",
				"read h/one", "ok", "write h/one", "EROFS", "read h/l", "ok", "make h/n", "EROFS", "chmod h", "EROFS", "read h/in/../s", "ENOENT"}},
		"a hidden file where a read-only one is protected": {[]string{"w/f"}, lists{write: []string{"w"}, readOnly: []string{"w/f"}, hide: []string{"w/f"}}, []string{"read f", "EACCES", "write f", "EACCES"}},
		"a path that may be made stays away":               {[]string{"w/f"}, lists{once: []string{"w/new"}}, []string{"make new", "EROFS", "stat new", "ENOENT"}},
	} {
		t.Run(name, func(t *testing.T) { eachStep(t, c.tree, c.lists, c.inside) })
		if slices.Contains(c.lists.write, "w") {
			entries, l := among(c.tree, c.lists)
			t.Run(name+", among many", func(t *testing.T) { eachStep(t, entries, l, c.inside) })
		}
	}
}

func eachStep(t *testing.T, entries []string, l lists, made []string) {
	dir := tree(t, entries...)
	inside, want := calls(made...)
	o := run(t, setup{View: l.view(dir, "w"), Dir: filepath.Join(dir, "w"), Inside: inside})
	if o.Apply != "" || o.Verify != "" || o.Cwd != filepath.Join(dir, "w") {
		t.Fatalf("%+v", o)
	}
	if !slices.Equal(o.Lines, want) {
		t.Errorf("got  %q\nwant %q", o.Lines, want)
	}
}

func TestTheWholeTreeWritable(t *testing.T) {
	dir := tree(t, "w/f", "w/p", "w/s", "w/proc/")
	v := lists{readOnly: []string{"w/p"}, hide: []string{"w/s"}}.view(dir, "w")
	v.Write = []view.Target{{Path: "/", Dir: true}}
	inside, want := calls("write f", "ok", "make n", "ok", "write p", "EROFS", "remove p", "EBUSY", "read s", "EACCES",
		"shut proc/sys/kernel/core_pattern", "ok", "shut /proc/sys/kernel/core_pattern", "ok")
	o := run(t, setup{View: v, Dir: filepath.Join(dir, "w"), Before: []string{"proc " + dir + "/w/proc"}, Inside: inside})
	if o.Apply != "" || o.Verify != "" || !slices.Equal(o.Lines, want) {
		t.Errorf("%+v\nwant %q", o, want)
	}
}

func TestTheRootHidden(t *testing.T) {
	dir := tree(t, "w/f", "w/p", "o/f")
	v := lists{write: []string{"w"}, readOnly: []string{"w/p"}}.view(dir, "w")
	v.Hide = []view.Target{{Path: "/", Dir: true}}
	inside, want := calls("read f", "ok", "make n", "ok", "write p", "EROFS", "list /", "EACCES", "read ../o/f", "ENOENT", "stat /etc", "ENOENT", "mkdir /etc", "EROFS",
		"stat /proc/self", "ok", "write /dev/null", "ok", "list ..", "EACCES")
	o := run(t, setup{View: v, Dir: filepath.Join(dir, "w"), Inside: inside})
	if o.Apply != "" || o.Verify != "" || o.Cwd != v.Cwd || !slices.Equal(o.Lines, want) {
		t.Errorf("%+v\nwant %q", o, want)
	}
}

// A working directory that was kept instead of entered again would still see through ".." what the mounts cover.
func TestTheWorkingDirectoryIsEnteredAgain(t *testing.T) {
	dir := tree(t, "h/s", "h/in/f")
	inside, want := calls("read f", "ok", "read ../s", "ENOENT", "list ..", "EACCES", "read ../in/f", "ok")
	o := run(t, setup{View: lists{reopen: []string{"h/in"}, hide: []string{"h"}}.view(dir, "h/in"), Dir: filepath.Join(dir, "h/in"), Inside: inside})
	if o.Apply != "" || o.Cwd != filepath.Join(dir, "h/in") || !slices.Equal(o.Lines, want) {
		t.Errorf("%+v\nwant %q", o, want)
	}
}

func TestAMountOfTheHostDoesNotComeIn(t *testing.T) {
	dir := tree(t, "w/sub/old")
	inside, want := calls("stat sub/old", "ok", "stat sub/new", "ENOENT")
	o := run(t, setup{View: lists{write: []string{"w"}}.view(dir, "w"), Dir: filepath.Join(dir, "w"),
		After: []string{"mount " + dir + "/w/sub", "make " + dir + "/w/sub/new"}, Inside: inside})
	if o.Apply != "" || !slices.Equal(o.Lines, want) {
		t.Errorf("%+v\nwant %q", o, want)
	}
}

// What changed since the plan, or while the mounts are made, ends the start with the path and the way out, or is protected as it is now.
func TestChangedSinceThePlan(t *testing.T) {
	const again, link, gone = "the path changed while srt started; run the command again", "a symbolic link stands where the plan saw none", "no such file or directory"
	const between = "it was replaced while it was mounted: no such file or directory"
	for name, c := range map[string]struct {
		lists         lists
		before, after []string
		apply, verify string // "path: cause"; "" for none
		hint          string
		inside        []string
	}{
		"a protected file that vanished":                    {lists{write: []string{"w"}, readOnly: []string{"w/f"}}, []string{"remove w/f"}, nil, "w/f: " + gone, "", again, nil},
		"a hidden file that vanished":                       {lists{write: []string{"w"}, hide: []string{"w/f"}}, []string{"remove w/f"}, nil, "w/f: " + gone, "", again, nil},
		"a writable directory that vanished":                {lists{write: []string{"w", "o/d"}}, []string{"remove o/d/f", "remove o/d"}, nil, "o/d: " + gone, "", again, nil},
		"a writable directory that is a link now":           {lists{write: []string{"w/d"}}, []string{"rename w/d w/e", "symlink ../o w/d"}, nil, "w/d: " + link, "", again, nil},
		"a re-opened directory that is a link now":          {lists{reopen: []string{"w/d"}, hide: []string{"w"}}, []string{"rename w/d w/e", "symlink ../o w/d"}, nil, "w/d: " + link, "", again, nil},
		"a hidden file that is a link now":                  {lists{write: []string{"w"}, hide: []string{"w/f"}}, []string{"remove w/f", "symlink ../o/f w/f"}, nil, "w/f: " + link, "", again, nil},
		"a directory above a protected file is a link now":  {lists{write: []string{"w"}, readOnly: []string{"w/d/f"}}, []string{"rename w/d w/e", "symlink ../o/d w/d"}, nil, "w/d/f: " + link, "", again, nil},
		"a directory above a hidden file is a link now":     {lists{write: []string{"w"}, hide: []string{"w/d/f"}}, []string{"rename w/d w/e", "symlink ../o/d w/d"}, nil, "w/d/f: " + link, "", again, nil},
		"a directory above a path to be made is a link now": {lists{once: []string{"w/d/new"}}, []string{"rename w/d w/e", "symlink ../o/d w/d"}, nil, "w/d: " + link, "", again, nil},
		"a protected file that is a link now is covered as that": {lists{write: []string{"w"}, readOnly: []string{"w/f"}}, []string{"rename w/f w/g", "symlink ../o/f w/f"}, nil, "", "", "",
			[]string{"remove f", "EBUSY", "write f", "EROFS", "write g", "ok"}},
		"a protected file that was replaced before":                 {lists{write: []string{"w"}, readOnly: []string{"w/f"}}, []string{"put w/f new"}, nil, "", "", "", []string{"holds f new", "ok", "write f", "EROFS"}},
		"a protected file that was replaced while mounts were made": {lists{write: []string{"w"}, readOnly: []string{"w/f"}}, nil, []string{"put w/f new"}, "", "w/f: " + between, again, nil},
		"a protected file that was moved meanwhile":                 {lists{write: []string{"w"}, readOnly: []string{"w/f"}}, nil, []string{"rename w/f w/g", "make w/f"}, "", "w/f: " + between, again, nil},
		"a protected file that was removed meanwhile":               {lists{write: []string{"w"}, readOnly: []string{"w/f"}}, nil, []string{"remove w/f"}, "", "w/f: " + gone, again, nil},
		"a hidden file that was replaced meanwhile":                 {lists{write: []string{"w"}, hide: []string{"w/f"}}, nil, []string{"put w/f new"}, "", "w/f: " + between, again, nil},
		"a directory above that was replaced meanwhile":             {lists{write: []string{"w"}, readOnly: []string{"w/d/f"}}, nil, []string{"rename w/d w/e", "mkdir w/d", "make w/d/f"}, "", "w/d/f: " + between, again, nil},
		"a directory above that nobody may enter":                   {lists{write: []string{"w"}, readOnly: []string{"w/d/f"}}, []string{"chmod w/d"}, nil, "w/d/f: permission denied", "", doctor, nil},
	} {
		changed := func(t *testing.T, entries []string, l lists) {
			dir := tree(t, entries...)
			t.Cleanup(func() { _ = unix.Chmod(filepath.Join(dir, "w/d"), 0o755) })
			inside, want := calls(c.inside...)
			o := run(t, setup{View: l.view(dir, ""), Dir: dir, Before: c.before, After: c.after, Inside: prefixed(inside)})
			told := func(s string) string {
				if s == "" {
					return ""
				}
				p, why, _ := strings.Cut(s, ": ")
				return fmt.Sprintf("mount %q: %s", filepath.Join(dir, p), why)
			}
			if o.Apply != told(c.apply) || o.Verify != told(c.verify) || o.Hint != c.hint || !slices.Equal(o.Lines, prefixed(want)) {
				t.Errorf("got  %+v\nwant apply %q, verify %q, hint %q, lines %q", o, told(c.apply), told(c.verify), c.hint, want)
			}
		}
		entries := []string{"w/f", "w/d/f", "o/f", "o/d/f"}
		t.Run(name, func(t *testing.T) { changed(t, entries, c.lists) })
		if slices.Contains(c.lists.write, "w") {
			many, l := among(entries, c.lists)
			t.Run(name+", among many", func(t *testing.T) { changed(t, many, l) })
		}
	}
}

const doctor = "run srt doctor: it names what on this machine forbids mounts in a user namespace"

// prefixed lets the first path of each call begin in w.
func prefixed(calls []string) (out []string) {
	for _, c := range calls {
		verb, rest, _ := strings.Cut(c, " ")
		out = append(out, verb+" w/"+rest)
	}
	return out
}

func TestWorkingDirectoryErrors(t *testing.T) {
	for name, c := range map[string]struct {
		lists  lists
		before []string
		cwd    string
		want   string
	}{
		"it vanished":      {lists{}, []string{"clear d"}, "d", "no such file or directory"},
		"it is a link now": {lists{}, []string{"rename d e", "symlink e d"}, "d", "a symbolic link stands where the plan saw none"},
		"it is hidden":     {lists{hide: []string{"d"}, reopen: []string{"d/in"}}, nil, "d/x", "no such file or directory"},
		"it is a file":     {lists{}, nil, "d/f", "not a directory"},
		"nobody may enter": {lists{}, []string{"chmod d"}, "d", "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, "d/f", "d/x/", "d/in/")
			t.Cleanup(func() { _ = unix.Chmod(filepath.Join(dir, "d"), 0o755) })
			o := run(t, setup{View: c.lists.view(dir, c.cwd), Dir: dir, Before: c.before})
			if want := fmt.Sprintf("enter the working directory %q: %s", filepath.Join(dir, c.cwd), c.want); o.Apply != want || o.Hint == "" {
				t.Errorf("got  %+v\nwant %q", o, want)
			}
		})
	}
}

// Thousands of protected files are one mount each, in one directory or in many.
func TestThreeThousandProtectedFiles(t *testing.T) {
	var files, l, inside []string
	for i := range 3000 {
		f := fmt.Sprintf("w/%d/%d", i%7, i)
		files, l = append(files, f, f+".free"), append(l, f)
		if i%100 == 0 {
			inside = append(inside, "write "+f, "EROFS", "remove "+f, "EBUSY", "write "+f+".free", "ok")
		}
	}
	dir := tree(t, files...)
	slices.Sort(l)
	do, want := calls(inside...)
	o := run(t, setup{View: lists{write: []string{"w"}, readOnly: l}.view(dir, ""), Dir: dir, Inside: do})
	if o.Apply != "" || o.Verify != "" || !slices.Equal(o.Lines, want) {
		t.Errorf("%s %s\ngot  %q\nwant %q", o.Apply, o.Verify, o.Lines, want)
	}
}

// Where many are covered by their names, a link that comes and goes on the way leads some of the mounts astray: whatever is missed in the
// end must be found.
func TestALinkThatComesAndGoes(t *testing.T) {
	var l, entries, inside []string
	for i := range 200 {
		f := fmt.Sprintf("w/d/%03d", i)
		l, entries = append(l, f), append(entries, f, "o/"+f[2:], "w/d/free")
		inside = append(inside, "shut "+f, "ok")
	}
	do, want := calls(append(inside, "write w/d/free", "ok")...)
	pause := slices.Repeat([]string{"list w/d"}, 4)
	for name, while := range map[string][]string{
		"above them":    {"rename w/d w/e", "symlink ../o/d w/d", "remove w/d", "rename w/e w/d"},
		"at one":        {"rename w/d/100 w/e", "symlink ../../o/d/100 w/d/100", "rename w/e w/d/100"},
		"at one, to it": {"rename w/d/100 w/d/e", "symlink e w/d/100", "rename w/d/e w/d/100"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				dir := tree(t, entries...)
				o := run(t, setup{View: lists{write: []string{"w"}, readOnly: l}.view(dir, ""), Dir: dir, While: slices.Concat(pause, while), Inside: do})
				if o.Apply == "" && o.Verify == "" && !slices.Equal(o.Lines, want) {
					t.Fatalf("got  %q\nwant %q", o.Lines, want)
				}
			}
		})
	}
}

// Thousands are verified by two threads: one replaced file must be found wherever it stands.
func TestOneReplacedAmongMany(t *testing.T) {
	for _, n := range []int{0, 249, 250, 499} {
		var l []string
		for i := range 500 {
			l = append(l, fmt.Sprintf("w/%03d", i))
		}
		dir := tree(t, l...)
		o := run(t, setup{View: lists{write: []string{"w"}, readOnly: l}.view(dir, ""), Dir: dir, After: []string{"put " + l[n] + " new"}})
		if want := fmt.Sprintf("mount %q: it was replaced while it was mounted: no such file or directory", filepath.Join(dir, l[n])); o.Apply != "" || o.Verify != want {
			t.Errorf("%s %s, want %s", o.Apply, o.Verify, want)
		}
	}
}

// The throw-away file system of a hidden directory has room for a way to some thousand re-opened places, and descriptors are needed.
func TestTooManyPlacesInsideAHiddenDirectory(t *testing.T) {
	var names []string
	for i := range 4200 {
		names = append(names, fmt.Sprintf("h/%d/", i))
	}
	dir := tree(t, names...)
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], "/")
	}
	slices.Sort(names)
	o := run(t, setup{View: lists{reopen: names, hide: []string{"h"}}.view(dir, ""), Dir: dir})
	if !strings.HasPrefix(o.Apply, fmt.Sprintf("mount %q", dir+"/h")[:len(dir)+8]) || !strings.HasSuffix(o.Apply, ": no space left on device") && !strings.HasSuffix(o.Apply, ": too many open files") {
		t.Errorf("%+v", o)
	}
}

// An editor's save takes the mount away in here; the guard puts it on the new file.
func TestTheGuardCoversWhatTheHostReplaced(t *testing.T) {
	dir := tree(t, "w/f", "w/g", "w/free")
	inside, want := calls("covered f", "ok", "holds f new", "ok", "remove f", "EBUSY", "write g", "EROFS", "write free", "ok")
	o := run(t, setup{View: lists{write: []string{"w"}, readOnly: []string{"w/f", "w/g"}}.view(dir, "w"), Dir: filepath.Join(dir, "w"),
		Later: []string{"put " + dir + "/w/f new"}, Inside: inside})
	if o.Apply != "" || o.Verify != "" || !slices.Equal(o.Lines, want) {
		t.Errorf("%+v\nwant %q", o, want)
	}
}
