package profile

import (
	"errors"
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// MaxSize bounds a profile, in bytes: it travels as an argument, and arguments and environment together may have 1 MiB.
const MaxSize = 512 << 10

// maxTag bounds Spec.Tag.
const maxTag = 200

// writer collects the text. The first error stays.
type writer struct {
	text []byte
	tag  string
	err  error
}

// section begins a part with a comment, which must be a constant.
func (w *writer) section(comment string) {
	w.text = append(w.text, "\n; "...)
	w.text = append(append(w.text, comment...), '\n')
}

func (w *writer) line(n sbpl.Node) {
	if w.err == nil {
		w.text, w.err = sbpl.Append(w.text, n)
		w.text = append(w.text, '\n')
	}
}

func (w *writer) allow(ops string, filters ...sbpl.Node) { w.rule("allow", ops, filters) }
func (w *writer) deny(ops string, filters ...sbpl.Node)  { w.rule("deny", ops, filters) }

// allowAny and denyAny write nothing when there is no filter: a rule without one would match everything.
func (w *writer) allowAny(ops string, filters []sbpl.Node) {
	if len(filters) > 0 {
		w.rule("allow", ops, filters)
	}
}

func (w *writer) denyAny(ops string, filters []sbpl.Node) {
	if len(filters) > 0 {
		w.rule("deny", ops, filters)
	}
}

// rule writes one rule, one filter a line when there are several. Denials carry the tag by which their log lines are known.
func (w *writer) rule(action, ops string, filters []sbpl.Node) {
	if w.err != nil {
		return
	}
	w.text = append(w.text, "("+action+" "+ops...)
	if action == "deny" {
		filters = append(append([]sbpl.Node(nil), filters...), sbpl.L("with", sbpl.Sym("message"), sbpl.Str(w.tag)))
	}
	between := " "
	if len(filters) > 2 {
		between = "\n  "
	}
	for _, f := range filters {
		w.text = append(w.text, between...)
		if w.text, w.err = sbpl.Append(w.text, f); w.err != nil {
			return
		}
	}
	w.text = append(w.text, ")\n"...)
}

func (w *writer) finish() (string, error) {
	if f := (*wire.Fault)(nil); w.err != nil && !errors.As(w.err, &f) {
		return "", &wire.Fault{Code: wire.CodePolicy, Op: "write the Seatbelt profile", Detail: w.err.Error()}
	}
	if w.err != nil {
		return "", w.err
	}
	if len(w.text) > MaxSize {
		return "", tooLarge(len(w.text))
	}
	return string(w.text), nil
}

func anyOf(filters []sbpl.Node) sbpl.Node {
	if len(filters) == 1 {
		return filters[0]
	}
	return sbpl.L("require-any", filters...)
}

func allOf(filters ...sbpl.Node) sbpl.Node { return sbpl.L("require-all", filters...) }

func not(f sbpl.Node) sbpl.Node { return sbpl.L("require-not", f) }

func vnode(kind string) sbpl.Node { return sbpl.L("vnode-type", sbpl.Sym(kind)) }

// checkTag: the tag ends log lines, so it must not be mistaken for anything else.
func checkTag(tag string) bool {
	return tag != "" && len(tag) <= maxTag && strings.Trim(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}
