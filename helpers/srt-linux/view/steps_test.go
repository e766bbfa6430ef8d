package view

import (
	"fmt"
	"slices"
	"testing"
)

func TestStepsComeByPathAndThenByKind(t *testing.T) {
	targets := func(paths ...string) (l []Target) {
		for _, p := range paths {
			l = append(l, Target{Path: p})
		}
		return l
	}
	v := View{
		Hide:     targets("/w/secret", "/", "/w/a", "/dev", "/procession"),
		ReadOnly: targets("/w/a/b", "/w", "/proc/sys"),
		Reopen:   targets("/w/secret/open", "/w"),
		Write:    targets("/w/secret/open", "/w", "/dev/shm", "/"),
	}
	var got []string
	for _, s := range v.Steps() {
		got = append(got, fmt.Sprint(s.Path, " ", s.Kind))
	}
	want := []string{"/ 0", "/ 3", "/procession 3", "/w 0", "/w 1", "/w 2", "/w/a 3", "/w/a/b 2", "/w/secret 3", "/w/secret/open 0", "/w/secret/open 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
