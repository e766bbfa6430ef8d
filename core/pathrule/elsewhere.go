package pathrule

// Elsewhere is implemented by an FS where one tree can be mounted more than once.
type Elsewhere interface {
	// Elsewhere gives the other paths that lead to what is at path, or would be: same to path itself, below to something inside it. None
	// of them has a link in it or lies inside path.
	Elsewhere(path string) (same, below []string)
}

func (p *Policy) elsewhere(path string) (same, below []string) {
	if fs, ok := p.fs.(Elsewhere); ok {
		return fs.Elsewhere(path)
	}
	return nil, nil
}

// eachPlace calls f for path and for every other path that leads there or inside.
func (p *Policy) eachPlace(path string, kind Kind, f func(*Mark)) {
	f(p.mark(path, kind))
	same, below := p.elsewhere(path)
	for _, places := range [][]string{same, below} {
		for _, q := range places {
			f(p.mark(q, p.start.lstat(q)))
		}
	}
}
