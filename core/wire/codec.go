package wire

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// MaxMessage bounds a request or an answer of a helper, in bytes.
const MaxMessage = 16 << 20

// The codec is our own, for three reasons. encoding/json replaces bytes that are not UTF-8, and arguments, environment and file names
// are bytes; it lets unknown, repeated, wrongly cased and missing keys pass, and each of them could turn a deny list into nothing; and
// its type tables cost a third of what the rest of a process of srt costs to start.
//
// The format is JSON (RFC 8259) but for one thing: a string holds its bytes as they are, so it is valid UTF-8 only when the value is.
// Types: structs with json tags, pointers to them, slices, []byte (base64), map[string]string, string, bool, int, int64, uint64.

// Decode reads exactly one message into v, a pointer to a struct of this package that is its zero value. Refused are an unknown,
// repeated, wrongly cased or missing key (but for omitempty), null, a number out of range, trailing text, and more than limit bytes.
// When v has a Version, it must be Version. The error is always a *Fault.
func Decode(data []byte, limit int, v any) error {
	if t := reflect.TypeOf(v).Elem(); len(data) > limit {
		return tooLarge(t, len(data), limit)
	}
	return DecodeText(string(data), limit, v)
}

// DecodeText is Decode of a text, which v keeps parts of.
func DecodeText(text string, limit int, v any) error {
	t := reflect.TypeOf(v).Elem()
	if len(text) > limit {
		return tooLarge(t, len(text), limit)
	}
	malformed := func(err error) error {
		return &Fault{Code: CodeMalformed, Op: "decode " + t.Name(), Detail: err.Error()}
	}
	if f, ok := t.FieldByName("Version"); ok && f.Type.Kind() == reflect.Int {
		got, err := (&decoder{text: text}).version()
		if err != nil {
			return malformed(err)
		}
		if got != strconv.Itoa(Version) {
			return &Fault{Code: CodeVersion, Op: "decode " + t.Name(), Detail: fmt.Sprintf("the peer does not speak version %d", Version),
				Hint: "install srt and its helpers from one build"}
		}
	}
	d := &decoder{text: text}
	if err := d.value(reflect.ValueOf(v).Elem()); err != nil {
		return malformed(err)
	}
	if d.space(); d.at != len(text) {
		return malformed(errors.New("text after the message"))
	}
	return nil
}

func tooLarge(t reflect.Type, length, limit int) error {
	return &Fault{Code: CodeTooLarge, Op: "decode " + t.Name(), Detail: fmt.Sprintf("%d bytes, at most %d are accepted", length, limit)}
}

// A field is one key of a struct.
type field struct {
	key      string
	index    int
	optional bool // omitempty
}

var fieldCache sync.Map // reflect.Type → []field

func fieldsOf(t reflect.Type) []field {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]field)
	}
	fs := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		key, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if key == "" {
			panic("wire: " + t.Name() + "." + t.Field(i).Name + " has no json tag (a bug, please report)")
		}
		fs = append(fs, field{key, i, opts == "omitempty"})
	}
	fieldCache.Store(t, fs)
	return fs
}
