package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// MaxMessage bounds a request or an answer of a helper, in bytes.
const MaxMessage = 16 << 20

// Encode gives the bytes of one message. Messages of this package always encode; an error is a bug.
func Encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T (a bug, please report): %w", v, err)
	}
	return b, nil
}

// Decode reads exactly one message into v, a pointer to a struct of this package. Stricter than encoding/json: an unknown, repeated,
// wrongly cased or missing key, trailing text and more than limit bytes are refused, because each of them could turn a deny list
// into nothing. When v has a Version, it must be Version. The error is always a *Fault.
func Decode(data []byte, limit int, v any) error {
	t := reflect.TypeOf(v).Elem()
	if len(data) > limit {
		return &Fault{Code: CodeTooLarge, Op: "decode " + t.Name(), Detail: fmt.Sprintf("%d bytes, at most %d are accepted", len(data), limit)}
	}
	malformed := func(err error) error {
		return &Fault{Code: CodeMalformed, Op: "decode " + t.Name(), Detail: err.Error()}
	}
	if f, ok := t.FieldByName("Version"); ok { // before the keys: another version may well have other keys
		var head struct {
			Version *int `json:"version"`
		}
		if err := json.Unmarshal(data, &head); err != nil {
			return malformed(err)
		}
		if f.Type.Kind() == reflect.Int && (head.Version == nil || *head.Version != Version) {
			return &Fault{Code: CodeVersion, Op: "decode " + t.Name(), Detail: fmt.Sprintf("the peer does not speak version %d", Version),
				Hint: "install srt and its helpers from one build"}
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := checkValue(d, t, t.Name()); err != nil {
		return malformed(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return malformed(errors.New("text after the message"))
	}
	if err := json.Unmarshal(data, v); err != nil {
		return malformed(err)
	}
	return nil
}

var bytesType = reflect.TypeFor[[]byte]()

// checkValue reads one value from d and checks its keys against t; at is where, for messages.
func checkValue(d *json.Decoder, t reflect.Type, at string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	tok, err := d.Token()
	if err != nil {
		return err
	}
	delim, isDelim := tok.(json.Delim)
	switch {
	case !isDelim:
		if t.Kind() == reflect.Struct && tok != nil {
			return fmt.Errorf("%s: want an object", at)
		}
		return nil
	case delim == '{' && t.Kind() == reflect.Struct:
		return checkStruct(d, t, at)
	case delim == '{' && t.Kind() == reflect.Map:
		return checkMap(d, t, at)
	case delim == '[' && t.Kind() == reflect.Slice && t != bytesType:
		for d.More() {
			if err := checkValue(d, t.Elem(), at+"[]"); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	}
	return fmt.Errorf("%s: %q where a %s belongs", at, delim, t.Kind())
}

func checkStruct(d *json.Decoder, t reflect.Type, at string) error {
	seen := make(map[string]bool, t.NumField())
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		f, ok := fieldByKey(t, name)
		if !ok {
			return fmt.Errorf("%s: unknown key %q", at, name)
		}
		if seen[name] {
			return fmt.Errorf("%s: key %q twice", at, name)
		}
		seen[name] = true
		if err := checkValue(d, f.Type, at+"."+name); err != nil {
			return err
		}
	}
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if !seen[name] && opts != "omitempty" {
			return fmt.Errorf("%s: key %q is missing", at, name)
		}
	}
	_, err := d.Token()
	return err
}

func checkMap(d *json.Decoder, t reflect.Type, at string) error {
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if seen[name] {
			return fmt.Errorf("%s: key %q twice", at, name)
		}
		seen[name] = true
		if err := checkValue(d, t.Elem(), at+"."+name); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// fieldByKey finds the field whose JSON key is exactly name; encoding/json alone would accept any case.
func fieldByKey(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); key == name && name != "" {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}
