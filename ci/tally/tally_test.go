package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// line makes one event of package p.
func line(action, test, output string) string {
	s := `{"Action":"` + action + `","Package":"p"`
	if test != "" {
		s += `,"Test":"` + test + `"`
	}
	if output != "" {
		s += `,"Output":"` + output + `\n"`
	}
	return s + "}\n"
}

func TestSum(t *testing.T) {
	pass := line("run", "TestA", "") + line("pass", "TestA", "")
	skip := line("run", "TestR", "") + line("output", "TestR", "    x_test.go:3: needs root, runs as uid 7") + line("skip", "TestR", "")
	for name, c := range map[string]struct {
		runs   []string
		noSkip bool
		ok     bool
		want   []string
	}{
		"a pass": {runs: []string{pass + line("pass", "", "")}, ok: true, want: []string{"1 passed, 0 failed, 0 skipped"}},
		"a failure shows its output": {runs: []string{pass + line("run", "TestB", "") + line("output", "TestB", "boom") + line("fail", "TestB", "") + line("fail", "", "")},
			want: []string{"FAIL  p TestB\n      boom\n", "1 passed, 1 failed, 0 skipped"}},
		"a failed subtest counts once, not its parents": {runs: []string{line("fail", "TestB/x", "") + line("pass", "TestB/y", "") + line("fail", "TestB", "") + line("fail", "", "")},
			want: []string{"FAIL  p TestB/x", "1 passed, 1 failed, 0 skipped"}},
		"a parent that fails by itself counts": {runs: []string{line("pass", "TestB/y", "") + line("fail", "TestB", "")},
			want: []string{"FAIL  p TestB\n", "1 passed, 1 failed, 0 skipped"}},
		"a package that does not build": {runs: []string{pass + `{"Action":"build-output","ImportPath":"q","Output":"undefined: x\n"}` + "\n" + `{"Action":"build-fail","ImportPath":"q"}` + "\n"},
			want: []string{"FAIL  q \n      undefined: x\n", "1 passed, 1 failed, 0 skipped"}},
		"a process that died in the middle of a test": {runs: []string{pass + line("run", "TestC", "") + line("output", "TestC", "half")},
			want: []string{"FAIL  p TestC\n      half\n", "1 passed, 1 failed, 0 skipped"}},
		"skipped on one side, run on the other": {runs: []string{pass + skip, line("pass", "TestR", "")}, noSkip: true, ok: true,
			want: []string{"2 passed, 0 failed, 0 skipped"}},
		"passed on one side, failed on the other": {runs: []string{pass, line("fail", "TestA", "")},
			want: []string{"0 passed, 1 failed, 0 skipped"}},
		"skipped everywhere": {runs: []string{pass + skip, skip}, ok: true,
			want: []string{"skip  p TestR: x_test.go:3: needs root, runs as uid 7\n", "1 passed, 0 failed, 1 skipped"}},
		"skipped everywhere where that is not allowed": {runs: []string{pass + skip, skip}, noSkip: true,
			want: []string{"ran on neither side", "1 passed, 1 failed, 0 skipped"}},
		"a skip that says nothing": {runs: []string{pass + line("skip", "TestS", "")}, ok: true, want: []string{"TestS: no reason given"}},
		"nothing passed":           {runs: []string{line("pass", "", "")}, want: []string{"0 passed, 0 failed, 0 skipped"}},
	} {
		t.Run(name, func(t *testing.T) {
			sum := newTally()
			for _, r := range c.runs {
				if err := sum.read(strings.NewReader(r)); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			if ok := sum.report(&out, c.noSkip); ok != c.ok {
				t.Errorf("all well: %t, want %t", ok, c.ok)
			}
			for _, w := range c.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("report %q\nlacks %q", out.String(), w)
				}
			}
		})
	}
	if err := newTally().read(strings.NewReader("")); err == nil || err.Error() != "no events: nothing was tested" {
		t.Errorf("an empty run: %v", err)
	}
}

func TestWatchKeepsEverythingAndShowsPackages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	in := line("pass", "TestA", "") + "go: a message of go itself\n" + line("pass", "", "") + strings.Replace(line("fail", "", ""), `"p"`, `"q"`, 1)
	var out strings.Builder
	if err := watch(strings.NewReader(in), file, &out); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(file)
	if err != nil || string(kept) != in {
		t.Errorf("kept %q, %v", kept, err)
	}
	got := strings.Fields(out.String())
	if strings.Join(got, " ") != "pass p 0.0s fail q 0.0s" {
		t.Errorf("showed %q", out.String())
	}
}
