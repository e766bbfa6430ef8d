package sbpltest

// Vnode types.
const (
	Regular   = "REGULAR-FILE"
	Directory = "DIRECTORY"
	Symlink   = "SYMLINK"
	Socket    = "SOCKET"
	CharDev   = "CHARACTER-DEVICE"
)

// Query is one operation to judge.
type Query struct {
	Op     string
	Path   string // as the kernel spells it
	Vnode  string
	IP     bool   // a network operation on an internet address
	TCP    bool   // … of a TCP socket
	Host   string // the other side (outbound), or our own address (bind, inbound)
	Port   int
	Name   string // Mach service, sysctl, preference domain
	Target string // "self", "same-sandbox" or "others"
	Ioctl  uint64
	Domain string // socket domain, such as "AF_UNIX"
	Pty    bool   // the terminal was made inside this sandbox
}

// Order is one reading of how rules are ranked.
type Order int

// Orders. A profile must mean the same under both.
const (
	// OperationFirst: the rules for the very operation are looked at first, then those for the wider ones; the last match wins.
	OperationFirst Order = iota
	// SourceOrder: the last rule that matches wins, however wide its operation is.
	SourceOrder
)

// Orders lists the readings.
func Orders() []Order { return []Order{OperationFirst, SourceOrder} }

func (o Order) String() string {
	if o == SourceOrder {
		return "source order"
	}
	return "operation first"
}

// Verdict is a decision and the line that made it; Line 0 is the default or what version 1 allows by itself.
type Verdict struct {
	Allow   bool
	Line    int
	Message string
}

// Decide judges q. It panics when q names an unknown operation.
func (p *Profile) Decide(o Order, q Query) Verdict {
	op, ok := operation(q.Op, MacOS26)
	if !ok || op == "default" {
		panic("unknown operation " + q.Op)
	}
	if o == SourceOrder {
		return p.sourceOrder(op, &q)
	}
	for ; op != ""; op = parents[op] {
		rules := p.byOp[op]
		for i := len(rules) - 1; i >= 0; i-- {
			if rules[i].matches(&q) {
				return rules[i].verdict()
			}
		}
		if granted[op] {
			return Verdict{Allow: true}
		}
	}
	return Verdict{}
}

func (p *Profile) sourceOrder(op string, q *Query) Verdict {
	var hit *rule
	grants := false
	for ; op != "default"; op = parents[op] {
		grants = grants || granted[op]
		rules := p.byOp[op]
		for i := len(rules) - 1; i >= 0 && (hit == nil || rules[i].seq > hit.seq); i-- {
			if rules[i].matches(q) {
				hit = rules[i]
			}
		}
	}
	switch {
	case hit != nil:
		return hit.verdict()
	case grants:
		return Verdict{Allow: true}
	}
	for _, r := range p.byOp["default"] {
		if r.matches(q) {
			hit = r
		}
	}
	if hit == nil {
		return Verdict{}
	}
	return hit.verdict()
}

func (r *rule) matches(q *Query) bool {
	if len(r.filters) == 0 {
		return true
	}
	for _, f := range r.filters {
		if f(q) {
			return true
		}
	}
	return false
}

func (r *rule) verdict() Verdict { return Verdict{r.allow, r.line, r.message} }
