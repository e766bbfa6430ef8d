package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

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
