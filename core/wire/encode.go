package wire

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// sizeOnce holds an ordinary request with its environment: growing a buffer there costs new pages at each step.
const sizeOnce = 8 << 10

// Encode gives the bytes of one message: v is a struct of this package or a pointer to one. Keys stand in the order of the fields, map
// keys are sorted, a nil list is written as an empty one. An error is a bug.
func Encode(v any) ([]byte, error) { return EncodeAfter(nil, v) }

// EncodeAfter gives head and, behind it, what Encode gives of v.
func EncodeAfter(head []byte, v any) ([]byte, error) {
	return appendValue(append(make([]byte, 0, sizeOnce), head...), reflect.ValueOf(v))
}

// room gives b room for n more bytes, and at least doubles it for that: append would copy a long message far more often. What is not
// written to costs nothing.
func room(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	return append(make([]byte, 0, 2*len(b)+n), b...)
}

func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil, fmt.Errorf("encode: nil %s where a value is due (a bug, please report)", v.Type())
		}
		return appendValue(b, v.Elem())
	case reflect.Struct:
		return appendStruct(b, v)
	case reflect.Slice:
		return appendSlice(b, v)
	case reflect.Map:
		return appendMap(b, v)
	case reflect.String:
		return appendString(b, v.String()), nil
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case reflect.Int, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	}
	return nil, fmt.Errorf("encode: the codec has no %s (a bug, please report)", v.Type())
}

func appendStruct(b []byte, v reflect.Value) (_ []byte, err error) {
	b = append(b, '{')
	first := true
	for _, f := range fieldsOf(v.Type()) {
		fv := v.Field(f.index)
		if f.optional && empty(fv) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendString(b, f.key), ':')
		if b, err = appendValue(b, fv); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// empty is what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

// someItems are so many that they tell how long a list becomes.
const someItems = 16

func appendSlice(b []byte, v reflect.Value) (_ []byte, err error) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b = base64.StdEncoding.AppendEncode(append(b, '"'), v.Bytes())
		return append(b, '"'), nil
	}
	b = append(b, '[')
	start := len(b)
	for i := range v.Len() {
		if i == someItems { // half as much again as the rest takes if it is like them
			b = room(b, (len(b)-start)/someItems*(v.Len()-i)*3/2)
		}
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, v reflect.Value) ([]byte, error) {
	m, ok := v.Interface().(map[string]string)
	if !ok {
		return nil, fmt.Errorf("encode: the codec has no %s (a bug, please report)", v.Type())
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(appendString(b, k), ':'), m[k])
	}
	return append(b, '}'), nil
}

func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(room(b, len(s)+2), '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
