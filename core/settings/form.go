package settings

import (
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

const pathForm = `write "path" or {"path": "path", "literal": true}`

type valueForm struct{ want, example string }

// form says how a value of the type of to is written.
func form(to any) valueForm {
	switch to := to.(type) {
	case section:
		return valueForm{"an object", "{…}"}
	case *bool:
		return valueForm{"true or false", "true or false, without quotes"}
	case *string:
		return valueForm{"a text", `"…"`}
	case *PathEntry:
		return valueForm{"a path", `"path" or {"path": "path", "literal": true}`}
	case *[]string:
		return valueForm{"a list of texts", `["…"]`}
	case *[]PathEntry:
		return valueForm{"a list of paths", `["path", {"path": "path", "literal": true}]`}
	case *map[string]string:
		return valueForm{"an object of texts", `{"…": "…"}`}
	case *map[string][]string:
		return valueForm{"an object of lists", `{"…": ["…"]}`}
	case *number:
		return valueForm{"a whole number", fmt.Sprintf("a whole number from %d to %d", to.min, to.max)}
	case *portPair:
		return valueForm{"a pair of ports", "[first, last], at most 64 apart"}
	case *choice:
		values := strings.Split(strings.TrimSuffix(to.values, " "+to.later), " ")
		return valueForm{"a word", `"` + strings.Join(values, `" or "`) + `"`}
	}
	return valueForm{"another value", "another value"}
}

// wrong is the error for a value of another type than to.
func (d *decoder) wrong(v hujson.Value, to any, place []any) error {
	f := form(to)
	hint := "write " + f.example
	is := map[hujson.Kind]string{'n': "null", 't': "true", 'f': "false", '"': "a text", '0': "a number", '{': "an object", '[': "a list"}[v.Value.Kind()]
	switch {
	case v.Value.Kind() == 'n' && len(place) > 0:
		hint = "leave the key out for the default, or " + hint
	case v.Value.Kind() == '"':
		if s, ok := unquote(v.Value.(hujson.Literal)); ok {
			switch to.(type) {
			case *[]string, *[]PathEntry:
				hint = "write [" + quote(s) + "]"
			}
		}
	}
	if len(place) == 0 {
		hint = `write {} for the defaults`
	}
	return d.fail(v, place, is+" where "+f.want+" belongs", hint)
}
