package sbpltest

import (
	"fmt"

	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// Profile is a profile that has been read.
type Profile struct {
	rules []rule
	byOp  map[string][]*rule
}

type rule struct {
	allow   bool
	op      string
	filters []filter // any of them; none matches everything
	message string
	line    int
	seq     int
}

// Load reads a profile as the given release would. Anything unknown, and any rule that could never match, is an error.
func Load(src string, release Release) (*Profile, error) {
	nodes, err := sbpl.Parse(src)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 || !nodes[0].Is("version") || len(nodes[0].List) != 2 || nodes[0].List[1].Text != "1" {
		return nil, fmt.Errorf("a profile starts with (version 1)")
	}
	p := &Profile{byOp: map[string][]*rule{}}
	for _, n := range nodes[1:] {
		if err := p.form(n, release); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
	}
	for i := range p.rules {
		r := &p.rules[i]
		r.seq = i
		p.byOp[r.op] = append(p.byOp[r.op], r)
	}
	return p, nil
}

func (p *Profile) form(n sbpl.Node, release Release) error {
	switch {
	case n.Is("allow"), n.Is("deny"):
		return p.add(n, release)
	case n.Is("if"):
		if len(n.List) != 3 || !n.List[1].Is("defined?") || len(n.List[1].List) != 2 {
			return fmt.Errorf("the only condition is (if (defined? 'operation) rule)")
		}
		name := n.List[1].List[1]
		if name.Kind != sbpl.Symbol || name.Text[0] != '\'' {
			return fmt.Errorf("defined? wants a quoted symbol")
		}
		if absent[release][name.Text[1:]] {
			return nil
		}
		return p.form(n.List[2], release)
	}
	return fmt.Errorf("unknown form")
}

func (p *Profile) add(n sbpl.Node, release Release) error {
	r := rule{allow: n.Is("allow"), line: n.Line}
	var ops []string
	var filters []sbpl.Node
	for _, a := range n.List[1:] {
		switch {
		case a.Kind == sbpl.Symbol && filters == nil:
			op, ok := operation(a.Text, release)
			if !ok {
				return fmt.Errorf("unbound variable: %s", a.Text)
			}
			ops = append(ops, op)
		case a.Is("with"):
			if len(a.List) != 3 || a.List[1].Text != "message" || a.List[2].Kind != sbpl.String || r.allow {
				return fmt.Errorf("the only modifier is (with message \"…\") of a denial")
			}
			r.message = a.List[2].Text
		case a.Kind == sbpl.List:
			filters = append(filters, a)
		default:
			return fmt.Errorf("unexpected %q", a.Text)
		}
	}
	if len(ops) == 0 {
		return fmt.Errorf("a rule without an operation")
	}
	for _, op := range ops {
		r.op, r.filters = op, nil
		for _, f := range filters {
			c, err := compile(f, op)
			if err != nil {
				return fmt.Errorf("%s: %w", op, err)
			}
			r.filters = append(r.filters, c)
		}
		p.rules = append(p.rules, r)
	}
	return nil
}

// Rules is how many rules the profile holds, one per operation.
func (p *Profile) Rules() int { return len(p.rules) }

// Misordered gives the line of a rule that stands behind one for a narrower operation of the same family, 0 when there is none. Without
// such a rule both orders mean the same.
func (p *Profile) Misordered() int {
	for i := range p.rules {
		for j := range i {
			for op := parents[p.rules[j].op]; op != "" && op != "default"; op = parents[op] {
				if op == p.rules[i].op {
					return p.rules[i].line
				}
			}
		}
	}
	return 0
}
