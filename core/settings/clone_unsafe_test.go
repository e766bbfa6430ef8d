package settings

import (
	"reflect"
	"testing"
	"unsafe"
)

// fill sets everything that v can reach to something of its own.
func fill(v reflect.Value) {
	if !v.CanSet() { // an unexported field
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e)
		v.SetMapIndex(reflect.ValueOf("k"), e)
	case reflect.String:
		v.SetString("s")
	case reflect.Int:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// shared finds what a and b both point to.
func shared(a, b reflect.Value, path string) []string {
	switch a.Kind() {
	case reflect.Struct:
		var out []string
		for i := range a.NumField() {
			out = append(out, shared(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)...)
		}
		return out
	case reflect.Pointer:
		if a.Pointer() == b.Pointer() {
			return []string{path}
		}
		return shared(a.Elem(), b.Elem(), path)
	case reflect.Slice:
		if a.Pointer() == b.Pointer() {
			return []string{path}
		}
		return shared(a.Index(0), b.Index(0), path+"[0]")
	case reflect.Map:
		if a.Pointer() == b.Pointer() {
			return []string{path}
		}
		k := a.MapKeys()[0]
		return shared(a.MapIndex(k), b.MapIndex(k), path+"[k]")
	}
	return nil
}

func TestACloneIsEqualAndSharesNothing(t *testing.T) {
	var f File
	fill(reflect.ValueOf(&f).Elem())
	c := f.Clone()
	if !reflect.DeepEqual(&f, c) {
		t.Errorf("got %+v, want %+v", c, f)
	}
	if s := shared(reflect.ValueOf(f), reflect.ValueOf(*c), "File"); len(s) > 0 {
		t.Errorf("shared: %q", s)
	}
	if !reflect.DeepEqual(new(File).Clone(), new(File)) {
		t.Error("the clone of nothing is something")
	}
}
