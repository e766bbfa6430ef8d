package fileplan

import (
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// Leftovers says, one line each, what the run under this view left that something could run later: the lines of wire.KindReport. It may
// be called inside the sandbox's mounts or outside, by who may read the writable trees, once nothing runs in the sandbox any more.
func Leftovers(v *view.View) []string {
	if v.Unrestricted {
		return nil
	}
	s := pathrule.Search{Depth: v.ScanDepth}
	for _, list := range [][]view.Target{v.Write, v.CreateOnce} {
		for _, t := range list {
			if t.Path != "/dev" && !ownedBySandbox(t.Path) {
				s.Roots = append(s.Roots, t.Path)
			}
		}
	}
	for _, n := range v.Names {
		switch n.Kind {
		case view.NameSequence:
			_, reason, _ := strings.Cut(n.Rule, ": ")
			s.Sequences = append(s.Sequences, pathrule.Sequence{Name: n.Path, Parts: strings.Split(n.Path, "/"), Tree: n.Tree, Git: n.Git, Reason: reason})
		case view.NameGitDir:
			s.GitDirs = append(s.GitDirs, n.Path)
		}
	}
	return pathrule.Leftovers(newHostFS(v.StartedNs), s)
}
