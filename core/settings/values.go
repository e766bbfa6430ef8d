package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// asksNothing reports whether a value switches the thing off that its key is about.
func asksNothing(v hujson.Value) bool {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return len(c.Members) == 0
	case *hujson.Array:
		return len(c.Elements) == 0
	}
	return v.Value.Kind() == 'f'
}

func (d *decoder) texts(v hujson.Value, place []any) ([]string, error) {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, d.wrong(v, new([]string), place)
	}
	list := make([]string, len(a.Elements))
	for i, e := range a.Elements {
		if list[i], ok = plainText(e); ok {
			continue
		}
		_, err := d.want(e, new(string), append(place[:len(place):len(place)], i))
		return nil, err
	}
	return list, nil
}

// plainText reads a good text. Only others are worth the place that an error has: there may be thousands.
func plainText(v hujson.Value) (string, bool) {
	if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
		return unquote(lit)
	}
	return "", false
}

func (d *decoder) paths(v hujson.Value, to *[]PathEntry, place []any) error {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return d.wrong(v, to, place)
	}
	*to = make([]PathEntry, len(a.Elements))
	for i, e := range a.Elements {
		if s, ok := plainText(e); ok {
			(*to)[i].Path = s
			continue
		}
		place := append(place[:len(place):len(place)], i)
		entry, err := d.path(e, place)
		if err != nil {
			return err
		}
		(*to)[i] = entry
	}
	return nil
}

func (d *decoder) path(v hujson.Value, place []any) (PathEntry, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		s, err := d.want(v, &PathEntry{}, place)
		return PathEntry{Path: s}, err
	}
	var e PathEntry
	seen := map[string]bool{}
	for _, m := range o.Members {
		name, err := d.text(m.Name, place)
		if err != nil {
			return e, err
		}
		switch {
		case seen[name]:
			return e, d.fail(m.Name, place, fmt.Sprintf("the key %s stands here for the second time", quote(name)), "merge the two")
		case name == "path":
			if e.Path, err = d.want(m.Value, new(string), place); err != nil {
				return e, err
			}
		case name == "literal" && m.Value.Value.Kind() == 't':
			e.Literal = true
		case name == "literal":
			return e, d.fail(m.Name, place, "literal can only be true", "write the path as a plain text when it is a pattern")
		default:
			return e, d.fail(m.Name, place, fmt.Sprintf("unknown key %s", quote(name)), pathForm)
		}
		seen[name] = true
	}
	if !seen["path"] || !seen["literal"] {
		return e, d.fail(v, place, "an object that is not a path entry", pathForm)
	}
	return e, nil
}

func (d *decoder) members(v hujson.Value, to any, place []any, read func(string, hujson.Value, []any) error) error {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return d.wrong(v, to, place)
	}
	seen := make(map[string]bool, len(o.Members))
	for _, m := range o.Members {
		name, err := d.text(m.Name, place)
		if err != nil {
			return err
		}
		place := append(place[:len(place):len(place)], name)
		if seen[name] {
			return d.fail(m.Name, place, "this key stands here for the second time", "merge the two")
		}
		seen[name] = true
		if err := read(name, m.Value, place); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) choice(v hujson.Value, c *choice, place []any) error {
	s, err := d.want(v, c, place)
	if err != nil {
		return err
	}
	values := strings.Split(c.values, " ")
	for _, known := range values {
		if s != known {
			continue
		}
		if s == c.later {
			return d.fail(v, place, fmt.Sprintf("%q is not in this version of srt", s), "remove the key")
		}
		*c.to = s
		return nil
	}
	return d.fail(v, place, fmt.Sprintf("%s is none of the values", quote(s)), "write "+form(c).example)
}

func (d *decoder) number(v hujson.Value, n *number, place []any) (int, error) {
	if v.Value.Kind() != '0' {
		return 0, d.wrong(v, n, place)
	}
	text := v.Value.(hujson.Literal).String()
	i, err := strconv.Atoi(text)
	if err != nil || i < n.min || i > n.max {
		return 0, d.fail(v, place, clip(text)+" is out of range", "write "+form(n).example)
	}
	return i, nil
}

func (d *decoder) ports(v hujson.Value, p *portPair, place []any) error {
	a, ok := v.Value.(*hujson.Array)
	if !ok || len(a.Elements) != 2 {
		return d.wrong(v, p, place)
	}
	pair := make([]int, 2)
	for i, e := range a.Elements {
		var err error
		if pair[i], err = d.number(e, &number{min: 1, max: 65535}, append(place[:len(place):len(place)], i)); err != nil {
			return err
		}
	}
	if pair[0] > pair[1] || pair[1]-pair[0] > 64 {
		return d.fail(v, place, "the range is empty or wider than 64 ports", "write "+form(p).example)
	}
	*p.to = pair
	return nil
}

// want reads a text where to is wanted.
func (d *decoder) want(v hujson.Value, to any, place []any) (string, error) {
	if v.Value.Kind() != '"' {
		return "", d.wrong(v, to, place)
	}
	return d.text(v, place)
}

func (d *decoder) text(v hujson.Value, place []any) (string, error) {
	s, ok := unquote(v.Value.(hujson.Literal))
	if !ok {
		return "", d.fail(v, place, "the text is not Unicode", "save the file as UTF-8 and write no half of a surrogate pair")
	}
	return s, nil
}

// unquote decodes a string literal; false when that would change it in silence (bytes or escapes that are no character).
func unquote(lit hujson.Literal) (string, bool) {
	if !utf8.Valid(lit) {
		return "", false
	}
	if !bytes.ContainsRune(lit, '\\') {
		return string(lit[1 : len(lit)-1]), true
	}
	var s string
	if json.Unmarshal(lit, &s) != nil {
		return "", false
	}
	// A lone surrogate has become U+FFFD; an escaped or a real one stays and is counted on both sides.
	want := bytes.Count(lit, []byte("\ufffd")) + bytes.Count(bytes.ToLower(lit), []byte(`\ufffd`))
	return s, strings.Count(s, "\ufffd") <= want
}
