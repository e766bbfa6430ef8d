package acl

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

func asFault(err error, f **wire.Fault) bool { return errors.As(err, f) }

var sidNames = map[string]sd.SID{"alice": fake.Alice, "bob": fake.Bob, "account": accountSID, "group": group, "everyone": sd.Everyone, "users": sd.Users, "none": fake.Machine + "-513", "local": sd.Local, "system": sd.LocalSystem}

func layTree(t *testing.T, w *fake.Windows, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		words := strings.Fields(rest)
		switch kind {
		case "d":
			w.Mkdir(rest)
		case "f":
			w.WriteFile(rest)
		case "l":
			path, to, _ := strings.Cut(rest, " -> ")
			w.Link(path, to)
		case "s":
			w.Short(words[0], words[1])
		case "fat":
			w.FAT()
		case "own":
			w.Own(words[0], sidNames[words[1]], entries(t, words[2:])...)
		case "loosen":
			w.Loosen(words[0], entries(t, words[1:])...)
		default:
			t.Fatalf("tree line %q", line)
		}
	}
}

func entries(t *testing.T, words []string) []sd.ACE {
	var out []sd.ACE
	for ; len(words) >= 4; words = words[4:] {
		a := sd.ACE{SID: sidNames[words[3]]}
		if words[0] == "deny" {
			a.Kind = sd.Deny
		}
		if words[1] == "inherit" {
			a.Flags = sd.Inherit
		}
		m, err := strconv.ParseUint(words[2], 0, 32)
		if err != nil || a.SID == "" {
			t.Fatalf("entry %q", words)
		}
		a.Mask = uint32(m)
		out = append(out, a)
	}
	return out
}

func readPolicy(t *testing.T, text string) wire.FilePolicy {
	t.Helper()
	f := wire.FilePolicy{ScanDepth: 3}
	for line := range strings.Lines(text) {
		kind, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		e := wire.PathEntry{Path: path, Rule: path}
		if after, ok := strings.CutPrefix(path, "glob "); ok {
			e = wire.PathEntry{Path: after, Rule: after, Glob: true}
		}
		switch kind {
		case "denyRead":
			f.DenyRead = append(f.DenyRead, e)
		case "allowRead":
			f.AllowRead = append(f.AllowRead, e)
		case "allowWrite":
			f.AllowWrite = append(f.AllowWrite, e)
		case "denyWrite":
			f.DenyWrite = append(f.DenyWrite, e)
		case "protect":
			f.Protected, f.GitRules = protected, true
		case "disabled":
			f.Disabled = true
		default:
			t.Fatalf("policy line %q", line)
		}
	}
	return f
}
