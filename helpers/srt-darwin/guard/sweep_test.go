package guard

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

// fake is a process table. A process that runs may make another one each time that the table is read.
type fake struct {
	list    []Process
	env     map[int][]string
	makes   map[int][]Process // by whom, while it runs
	stopped map[int]bool
	killed  []int
	err     error
}

func (f *fake) Processes() ([]Process, error) {
	out := slices.Clone(f.list)
	for _, p := range out {
		if next := f.makes[p.Pid]; len(next) > 0 && !f.stopped[p.Pid] {
			f.list, f.makes[p.Pid] = append(f.list, next[0]), next[1:]
		}
	}
	return out, f.err
}

func (f *fake) Environment(pid int) []string { return f.env[pid] }

func (f *fake) Stop(pid int) { f.stopped[pid] = true }

func (f *fake) Kill(pid int) { f.killed = append(f.killed, pid) }

func TestSweep(t *testing.T) {
	const self = 50
	mine := Command{Pid: 100, TmpDir: "/private/tmp/srt-1"}
	// What is never the command's: launchd, a shell, the guard, another command with its guard.
	others := []Process{{1, 0, 1, 1}, {20, 1, 20, 20}, {self, 20, self, self}, {30, 20, 30, 20}, {200, 30, 200, 200}, {201, 1, 201, 201}}
	mark := []string{"A=1", "TMPDIR=/private/tmp/srt-1"}
	for name, c := range map[string]struct {
		command Command
		list    []Process
		env     map[int][]string
		makes   map[int][]Process
		want    []int
	}{
		"nothing is left":                     {mine, nil, nil, nil, nil},
		"the command and its group":           {mine, []Process{{100, 1, 100, 100}, {101, 100, 100, 100}}, nil, nil, []int{100, 101}},
		"a group of its own in the session":   {mine, []Process{{101, 1, 101, 100}}, nil, nil, []int{101}},
		"a session of its own below it":       {mine, []Process{{100, 30, 100, 20}, {101, 100, 101, 101}, {102, 101, 102, 102}}, nil, nil, []int{100, 101, 102}},
		"what has left, with its environment": {mine, []Process{{101, 1, 101, 101}, {102, 101, 102, 102}}, map[int][]string{101: mark}, nil, []int{101, 102}},
		"before its number is known":          {Command{TmpDir: mine.TmpDir}, []Process{{100, 30, 100, 20}}, map[int][]string{100: mark}, nil, []int{100}},
		"another command's directory":         {mine, []Process{{101, 1, 101, 101}}, map[int][]string{101: {"TMPDIR=/private/tmp/srt-12"}, 200: {"TMPDIR=/private/tmp/srt-2"}}, nil, nil},
		"the directory under another name":    {mine, []Process{{101, 1, 101, 101}}, map[int][]string{101: {"OLDTMPDIR=/private/tmp/srt-1"}}, nil, nil},
		"what is made meanwhile": {mine, []Process{{100, 1, 100, 100}}, nil,
			map[int][]Process{100: {{101, 100, 101, 101}, {102, 100, 102, 102}}}, []int{100, 101}},
		"nothing is known":                   {Command{}, []Process{{101, 1, 101, 101}}, map[int][]string{101: {"TMPDIR="}}, nil, nil},
		"what has given up every mark stays": {mine, []Process{{101, 1, 101, 101}}, map[int][]string{101: {"A=1"}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{list: append(slices.Clone(others), c.list...), env: c.env, makes: c.makes, stopped: map[int]bool{}}
			if err := Sweep(f, c.command, self); err != nil {
				t.Fatal(err)
			}
			slices.Sort(f.killed)
			if !slices.Equal(f.killed, c.want) {
				t.Errorf("killed %v, want %v", f.killed, c.want)
			}
			for _, pid := range f.killed {
				if !f.stopped[pid] {
					t.Errorf("%d was not stopped before", pid)
				}
			}
		})
	}
}

// A table in which somebody is his own ancestor ends the search, and one that makes processes for ever ends in the killing of all known.
func TestSweepEnds(t *testing.T) {
	f := &fake{list: []Process{{100, 101, 7, 7}, {101, 100, 7, 7}}, stopped: map[int]bool{}}
	if err := Sweep(f, Command{Pid: 99}, 50); err != nil || len(f.killed) != 0 {
		t.Errorf("killed %v: %v", f.killed, err)
	}
	endless := &bomb{}
	err := Sweep(endless, Command{Pid: 100}, 50)
	if err == nil || !strings.Contains(err.Error(), "faster than they could be stopped") || endless.killed < rounds {
		t.Errorf("killed %d: %v", endless.killed, err)
	}
	broken := &fake{err: errors.New("no table")}
	if err := Sweep(broken, Command{Pid: 100}, 50); err == nil || err.Error() != "list processes: no table" {
		t.Errorf("got %v", err)
	}
}

// bomb has one process more each time, whatever is stopped.
type bomb struct{ n, killed int }

func (b *bomb) Processes() ([]Process, error) {
	b.n++
	var out []Process
	for i := range b.n {
		out = append(out, Process{1000 + i, 1, 100, 100})
	}
	return out, nil
}

func (b *bomb) Environment(int) []string { return nil }
func (b *bomb) Stop(int)                 {}
func (b *bomb) Kill(int)                 { b.killed++ }

func TestParseArguments(t *testing.T) {
	for raw, want := range map[string]string{
		"":                 "",
		"\x01\x00":         "",
		"\x01\x00\x00\x00": "",
		"\x01\x00\x00\x00/bin/a\x00\x00\x00a\x00K=V\x00L=W\x00\x00pagesize=1\x00": "K=V L=W",
		"\x02\x00\x00\x00/bin/a\x00a\x00TMPDIR=/x\x00K=V\x00":                     "K=V",
		"\xff\xff\xff\xff/bin/a\x00a\x00K=V\x00":                                  "",
		"\x00\x00\x00\x00/bin/a\x00":                                              "",
	} {
		if got := strings.Join(parseArguments([]byte(raw), binary.LittleEndian.Uint32), " "); got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	}
}

func FuzzParseArguments(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00/bin/a\x00\x00a\x00K=V\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, e := range parseArguments(raw, binary.LittleEndian.Uint32) {
			if e == "" || strings.ContainsRune(e, 0) || !strings.Contains(string(raw), e) {
				t.Errorf("%q is not an entry of %q", e, raw)
			}
		}
	})
}
