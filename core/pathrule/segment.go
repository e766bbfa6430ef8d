package pathrule

import (
	"errors"
	"iter"
	"strings"
)

// segment is one component of a pattern.
type segment struct {
	any     bool   // "**"
	literal string // when ops is nil
	ops     []segOp
}

type segOp struct {
	kind segKind
	set  [4]uint64 // bytes that match, for opSet
	b    byte      // for opByte
}

type segKind uint8

const (
	opByte segKind = iota
	opSet
	opStar
)

func (o *segOp) has(b byte) bool {
	if o.kind == opByte {
		return o.b == b
	}
	return o.set[b>>6]&(1<<(b&63)) != 0
}

func (o *segOp) add(b byte)    { o.set[b>>6] |= 1 << (b & 63) }
func (o *segOp) remove(b byte) { o.set[b>>6] &^= 1 << (b & 63) }

func parseSegment(part string, fold bool) (segment, error) {
	if fold {
		part = foldCase(part)
	}
	if len(part) > 1 && strings.Trim(part, "*") == "" {
		return segment{any: true}, nil
	}
	if !strings.ContainsAny(part, `*?[\`) {
		return segment{literal: part}, nil
	}
	var s segment
	pattern := false
	for i := 0; i < len(part); {
		switch c := part[i]; c {
		case '*':
			pattern = true
			if n := len(s.ops); n == 0 || s.ops[n-1].kind != opStar {
				s.ops = append(s.ops, segOp{kind: opStar})
			}
			i++
		case '?':
			pattern = true
			s.ops = append(s.ops, segOp{kind: opSet, set: [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}})
			i++
		case '[':
			pattern = true
			op, n, err := parseSet(part[i:], fold)
			if err != nil {
				return segment{}, err
			}
			s.ops = append(s.ops, op)
			i += n
		case '\\':
			if i++; i == len(part) {
				return segment{}, errors.New(`"\" at the end of a component: write "\\" for a backslash`)
			}
			c = part[i]
			fallthrough
		default:
			s.ops = append(s.ops, segOp{kind: opByte, b: c})
			i++
		}
	}
	if !pattern {
		return segment{literal: unescape(part)}, nil
	}
	return s, nil
}

// classes are the POSIX character classes, ASCII only.
var classes = map[string]func(b byte) bool{
	"alpha": func(b byte) bool { return 'a' <= b|32 && b|32 <= 'z' },
	"digit": func(b byte) bool { return '0' <= b && b <= '9' },
	"alnum": func(b byte) bool { return 'a' <= b|32 && b|32 <= 'z' || '0' <= b && b <= '9' },
	"upper": func(b byte) bool { return 'A' <= b && b <= 'Z' },
	"lower": func(b byte) bool { return 'a' <= b && b <= 'z' },
	"space": func(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' },
	"blank": func(b byte) bool { return b == ' ' || b == '\t' },
	"punct": func(b byte) bool {
		return '!' <= b && b <= '/' || ':' <= b && b <= '@' || '[' <= b && b <= '`' || '{' <= b && b <= '~'
	},
	"xdigit": func(b byte) bool { return '0' <= b && b <= '9' || 'a' <= b|32 && b|32 <= 'f' },
	"cntrl":  func(b byte) bool { return b < ' ' || b == 127 },
	"graph":  func(b byte) bool { return '!' <= b && b <= '~' },
	"print":  func(b byte) bool { return ' ' <= b && b <= '~' },
}

// parseSet reads "[…]" at the start of text and gives its length. fold: names arrive in lower case.
func parseSet(text string, fold bool) (segOp, int, error) {
	op := segOp{kind: opSet}
	i := 1
	negate := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negate {
		i++
	}
	for first := true; ; first = false {
		switch {
		case i >= len(text):
			return op, 0, errors.New(`"[" without "]": write "\[" for a bracket`)
		case text[i] == ']' && !first:
			if negate {
				for w := range op.set {
					op.set[w] = ^op.set[w]
				}
			}
			op.remove('/')
			return op, i + 1, nil
		case strings.HasPrefix(text[i:], "[:"):
			name, _, ok := strings.Cut(text[i+2:], ":]")
			class := classes[name]
			if ok && class != nil {
				for b := range 256 {
					if class(byte(b)) || fold && class(upper(byte(b))) {
						op.add(byte(b))
					}
				}
				i += len(name) + 4
				continue
			}
			if ok && !strings.Contains(name, "]") {
				return op, 0, errors.New(`an unknown character class "[:` + name + `:]"`)
			}
		}
		lo, n, err := setByte(text[i:])
		if err != nil {
			return op, 0, err
		}
		i += n
		hi := lo
		if i+1 < len(text) && text[i] == '-' && text[i+1] != ']' {
			if hi, n, err = setByte(text[i+1:]); err != nil {
				return op, 0, err
			}
			i += n + 1
		}
		for b := int(lo); b <= int(hi); b++ {
			op.add(byte(b))
		}
	}
}

func setByte(text string) (byte, int, error) {
	if text[0] != '\\' {
		return text[0], 1, nil
	}
	if len(text) < 2 {
		return 0, 0, errors.New(`"[" without "]": write "\[" for a bracket`)
	}
	return text[1], 2, nil
}

// match uses the last star only to go back: with nothing but stars as wild cards the leftmost fit of what is between them is best.
func (s *segment) match(name string) bool {
	if s.ops == nil {
		return s.literal == name
	}
	star, from := -1, 0
	i, j := 0, 0
	for j < len(name) {
		switch {
		case i < len(s.ops) && s.ops[i].kind == opStar:
			star, from = i, j
			i++
		case i < len(s.ops) && s.ops[i].has(name[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(s.ops) && s.ops[i].kind == opStar {
		i++
	}
	return i == len(s.ops)
}

func unescape(part string) string {
	if strings.IndexByte(part, '\\') < 0 {
		return part
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		if part[i] == '\\' && i+1 < len(part) {
			i++
		}
		b.WriteByte(part[i])
	}
	return b.String()
}

// escape makes a pattern that matches exactly path.
func escape(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if strings.IndexByte(`*?[]\`, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 32
	}
	return b
}

// components yields the names of a path, top first.
func components(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		path = strings.TrimPrefix(path, "/")
		for path != "" {
			name, rest, _ := strings.Cut(path, "/")
			if name != "" && !yield(name) {
				return
			}
			path = rest
		}
	}
}
