package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

func parse(name string, text []byte) (*File, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // editors on Windows write it
	d := decoder{f: &File{source: name}}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &Error{File: name, Problem: "the settings are empty", Hint: "write {} for the defaults"}
	}
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return nil, &Error{File: name, Problem: "the settings are UTF-16", Hint: "save the file as UTF-8"}
	}
	if err := checkBounds(name, text); err != nil {
		return nil, err
	}
	text = append(text[:len(text):len(text)], '\n') // else a comment in the last line would have no end
	d.f.text = text
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, d.syntaxError(err)
	}
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, d.wrong(root, section{}, nil)
	}
	if err := d.section(top, "", nil); err != nil {
		return nil, err
	}
	return d.f, nil
}

type decoder struct {
	f    *File
	seen [len(keys)]bool
}

// section reads an object whose keys are in the table under prefix ("" or "network.").
func (d *decoder) section(o *hujson.Object, prefix string, place []any) error {
	for _, m := range o.Members {
		name, err := d.text(m.Name, place)
		if err != nil {
			return err
		}
		place := append(place[:len(place):len(place)], name)
		i := -1
		if !strings.Contains(name, ".") {
			i = row(prefix + name)
		}
		switch {
		case i < 0:
			return d.fail(m.Name, place, "unknown key", suggest(prefix, name))
		case d.seen[i]:
			return d.fail(m.Name, place, "this key stands here for the second time", "merge the two")
		}
		d.seen[i] = true
		d.f.present = append(d.f.present, i)
		if err := d.value(m, &keys[i], place); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) value(m hujson.ObjectMember, k *Key, place []any) error {
	if k.Use == Later || k.Use == Never {
		if k.Use == Later && asksNothing(m.Value) {
			return nil
		}
		return d.fail(m.Name, place, "asks for "+k.Doc+", which this version of srt does not have", "remove the key to run without it")
	}
	v, to := m.Value, k.field(d.f)
	var err error
	switch to := to.(type) {
	case section:
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return d.wrong(v, to, place)
		}
		return d.section(o, k.Path+".", place)
	case *bool:
		switch v.Value.Kind() {
		case 't', 'f':
			*to = v.Value.Kind() == 't'
		default:
			err = d.wrong(v, to, place)
		}
	case *string:
		*to, err = d.want(v, to, place)
	case *choice:
		err = d.choice(v, to, place)
	case *number:
		*to.to, err = d.number(v, to, place)
	case *portPair:
		err = d.ports(v, to, place)
	case *[]string:
		*to, err = d.texts(v, place)
	case *[]PathEntry:
		err = d.paths(v, to, place)
	case *map[string]string:
		*to = map[string]string{}
		err = d.members(v, to, place, func(name string, v hujson.Value, place []any) (err error) {
			(*to)[name], err = d.want(v, new(string), place)
			return err
		})
	case *map[string][]string:
		*to = map[string][]string{}
		err = d.members(v, to, place, func(name string, v hujson.Value, place []any) (err error) {
			(*to)[name], err = d.texts(v, place)
			return err
		})
	default:
		err = fmt.Errorf("settings key %q has no reader (a bug, please report)", k.Path)
	}
	return err
}

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
		if lit, ok := e.Value.(hujson.Literal); ok && lit.Kind() == '"' {
			if list[i], ok = unquote(lit); ok {
				continue
			}
		}
		_, err := d.want(e, new(string), append(place[:len(place):len(place)], i)) // the place costs too much to make it for good entries
		return nil, err
	}
	return list, nil
}

func (d *decoder) paths(v hujson.Value, to *[]PathEntry, place []any) error {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return d.wrong(v, to, place)
	}
	*to = make([]PathEntry, len(a.Elements))
	for i, e := range a.Elements {
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

func (d *decoder) fail(v hujson.Value, place []any, problem, hint string) error {
	e := &Error{File: d.f.source, Key: keyText(place), Problem: visible(problem), Hint: visible(hint)}
	e.Line, e.Col = position(d.f.text, v.StartOffset)
	return e
}

// syntaxError puts the parser's error into our words. The parser gives its position inside the text only.
func (d *decoder) syntaxError(err error) error {
	e := &Error{File: d.f.source, Hint: `quote keys and texts with ", put commas between entries, close every bracket`}
	var line, col int
	_, rest, _ := strings.Cut(err.Error(), ": ")
	if n, _ := fmt.Sscanf(rest, "line %d, column %d:", &line, &col); n == 2 {
		end := len(bytes.TrimRight(d.f.text, " \t\r\n")) // a text that ends too early ends there
		e.Line, e.Col = position(d.f.text, min(end, lineStart(d.f.text, line)+col-1))
		_, rest, _ = strings.Cut(rest, ": ")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		rest = "the text ends too early"
	}
	e.Problem = "invalid JSON: " + clip(rest)
	return e
}

func lineStart(text []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}
