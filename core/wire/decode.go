package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A decoder stands at one place of a message. Its recursion is bounded by the types, which do not nest into themselves; skip, which
// knows no type, counts.
//
// What it gives are parts of text: thousands of paths are one piece of memory.
type decoder struct {
	text string
	at   int
}

var errEnd = errors.New("the message ends in the middle")

// maxSkip bounds the depth of what version looks over.
const maxSkip = 32

func (d *decoder) space() {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// next skips space and gives the byte at which a token begins.
func (d *decoder) next() (byte, error) {
	d.space()
	if d.at == len(d.text) {
		return 0, errEnd
	}
	return d.text[d.at], nil
}

func (d *decoder) expect(c byte) error {
	got, err := d.next()
	if err != nil {
		return err
	}
	if got != c {
		return fmt.Errorf("%q where %q belongs, at byte %d", got, c, d.at)
	}
	d.at++
	return nil
}

// items calls each at every element of an object or a list, whose brackets it takes.
func (d *decoder) items(open, end byte, each func() error) error {
	if err := d.expect(open); err != nil {
		return err
	}
	if c, err := d.next(); err != nil {
		return err
	} else if c == end {
		d.at++
		return nil
	}
	for {
		if err := each(); err != nil {
			return err
		}
		c, err := d.next()
		if err != nil {
			return err
		}
		d.at++
		switch c {
		case end:
			return nil
		case ',':
		default:
			return fmt.Errorf("%q where %q or %q belongs, at byte %d", c, ',', end, d.at-1)
		}
	}
}

func (d *decoder) key() (string, error) {
	k, err := d.str()
	if err != nil {
		return "", err
	}
	return k, d.expect(':')
}

func (d *decoder) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem())
	case reflect.Struct:
		return d.structure(v)
	case reflect.Slice:
		return d.slice(v)
	case reflect.Map:
		return d.mapping(v)
	case reflect.String:
		s, err := d.str()
		v.SetString(s)
		return err
	case reflect.Bool:
		w := d.word()
		if w != "true" && w != "false" {
			return fmt.Errorf("%q where true or false belongs", w)
		}
		v.SetBool(w == "true")
		return nil
	case reflect.Int, reflect.Int64:
		w := d.word()
		n, err := strconv.ParseInt(w, 10, 64)
		v.SetInt(n)
		return plainNumber(w, strconv.FormatInt(n, 10), err)
	case reflect.Uint64:
		w := d.word()
		n, err := strconv.ParseUint(w, 10, 64)
		v.SetUint(n)
		return plainNumber(w, strconv.FormatUint(n, 10), err)
	}
	return fmt.Errorf("the codec has no %s (a bug, please report)", v.Type())
}

// plainNumber refuses every spelling of a number but the one that Encode writes.
func plainNumber(word, plain string, err error) error {
	if err != nil || word != plain {
		return fmt.Errorf("%q is not a number that fits", word)
	}
	return nil
}

// word takes a number or a literal: everything up to a delimiter.
func (d *decoder) word() string {
	d.space()
	start := d.at
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ',', '}', ']', ' ', '\t', '\n', '\r', '{', '[', '"', ':':
			return d.text[start:d.at]
		}
		d.at++
	}
	return d.text[start:d.at]
}

func (d *decoder) structure(v reflect.Value) error {
	fields := fieldsOf(v.Type())
	var few [16]bool
	seen := few[:]
	if len(fields) > len(few) {
		seen = make([]bool, len(fields))
	}
	err := d.items('{', '}', func() error {
		k, err := d.key()
		if err != nil {
			return err
		}
		for i, f := range fields {
			if f.key != k {
				continue
			}
			if seen[i] {
				return fmt.Errorf("%s: key %q twice", v.Type().Name(), k)
			}
			seen[i] = true
			if err := d.value(v.Field(f.index)); err != nil {
				return fmt.Errorf("%s.%s: %w", v.Type().Name(), k, err)
			}
			return nil
		}
		return fmt.Errorf("%s: unknown key %q", v.Type().Name(), k)
	})
	if err != nil {
		return err
	}
	for i, f := range fields {
		if !seen[i] && !f.optional {
			return fmt.Errorf("%s: key %q is missing", v.Type().Name(), f.key)
		}
	}
	return nil
}

func (d *decoder) slice(v reflect.Value) error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		s, err := d.str()
		if err != nil {
			return err
		}
		b, err := base64.StdEncoding.DecodeString(s)
		v.SetBytes(b)
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0)) // an empty list is not a missing one
	return d.items('[', ']', func() error {
		n := v.Len()
		if n == someItems {
			v.Grow(min(d.itemsLeft(), maxAhead))
		}
		v.Grow(1)
		v.SetLen(n + 1)
		return d.value(v.Index(n))
	})
}

func (d *decoder) mapping(v reflect.Value) error {
	if v.Type() != reflect.TypeFor[map[string]string]() {
		return fmt.Errorf("the codec has no %s (a bug, please report)", v.Type())
	}
	m := map[string]string{}
	v.Set(reflect.ValueOf(m))
	return d.items('{', '}', func() error {
		k, err := d.key()
		if err != nil {
			return err
		}
		if _, ok := m[k]; ok {
			return fmt.Errorf("key %q twice", k)
		}
		m[k], err = d.str()
		return err
	})
}

// str takes a string. Bytes above 0x7f stay as they are.
func (d *decoder) str() (string, error) {
	if err := d.expect('"'); err != nil {
		return "", err
	}
	for i := d.at; i < len(d.text); i++ { // mostly there is nothing to undo
		switch c := d.text[i]; {
		case c == '"':
			s := d.text[d.at:i]
			d.at = i + 1
			return s, nil
		case c < 0x20:
			return "", fmt.Errorf("control character in a string, at byte %d", i)
		case c == '\\':
			return d.escaped(i)
		}
	}
	return "", errEnd
}

// escaped goes on with a string whose first backslash is at i.
func (d *decoder) escaped(i int) (string, error) {
	out := append([]byte(nil), d.text[d.at:i]...)
	for d.at = i; d.at < len(d.text); {
		c := d.text[d.at]
		d.at++
		switch {
		case c == '"':
			return string(out), nil
		case c < 0x20:
			return "", fmt.Errorf("control character in a string, at byte %d", d.at-1)
		case c != '\\':
			out = append(out, c)
		default:
			r, err := d.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return "", errEnd
}

// escape takes what follows a backslash.
func (d *decoder) escape() (rune, error) {
	if d.at == len(d.text) {
		return 0, errEnd
	}
	c := d.text[d.at]
	d.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return d.unicode()
	}
	return 0, fmt.Errorf("unknown escape %q, at byte %d", c, d.at-1)
}

func (d *decoder) unicode() (rune, error) {
	r, err := d.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if d.at+1 < len(d.text) && d.text[d.at] == '\\' && d.text[d.at+1] == 'u' {
		d.at += 2
		low, err := d.hex4()
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, fmt.Errorf("half a surrogate pair, at byte %d", d.at)
}

func (d *decoder) hex4() (rune, error) {
	if d.at+4 > len(d.text) {
		return 0, errEnd
	}
	n, err := strconv.ParseUint(d.text[d.at:d.at+4], 16, 16)
	d.at += 4
	return rune(n), err
}

// version looks a message over for its "version", whatever else it holds: another version may well have other keys.
func (d *decoder) version() (string, error) {
	got := ""
	err := d.items('{', '}', func() error {
		k, err := d.key()
		if err != nil {
			return err
		}
		if k == "version" {
			d.space()
			start := d.at
			if err := d.skip(0); err != nil {
				return err
			}
			got = d.text[start:d.at]
			return errFound
		}
		return d.skip(0)
	})
	if err == errFound {
		return got, nil
	}
	return got, err
}

// errFound ends the search for the version; it stands first in what Encode writes.
var errFound = errors.New("found")

func (d *decoder) skip(depth int) error {
	if depth > maxSkip {
		return errors.New("nested too deep")
	}
	c, err := d.next()
	if err != nil {
		return err
	}
	switch c {
	case '"':
		_, err := d.str()
		return err
	case '{':
		return d.items('{', '}', func() error {
			if _, err := d.key(); err != nil {
				return err
			}
			return d.skip(depth + 1)
		})
	case '[':
		return d.items('[', ']', func() error { return d.skip(depth + 1) })
	}
	if d.word() == "" {
		return fmt.Errorf("%q where a value belongs, at byte %d", c, d.at)
	}
	return nil
}
