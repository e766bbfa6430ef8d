package runas

import (
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/quote"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// Program is what a command turns out to be.
type Program struct {
	Path string // absolute
	Line string // the whole command line
}

// extensions are tried in this order when the name has none of them. PATHEXT is not asked: it names script hosts that Windows would
// start by the registry, which this does not.
var extensions = []string{".com", ".exe", ".bat", ".cmd"}

// Find looks argv[0] up as the command itself would: a name with a folder relative to dir, else in PATH of env, never in the working
// directory. exists is asked inside the sandbox's view. Errors are *wire.Fault values of CodeNotFound or CodeNotExec.
func Find(argv, env []string, dir, systemDir string, exists func(string) bool) (Program, error) {
	if len(argv) == 0 || argv[0] == "" {
		return Program{}, &wire.Fault{Code: wire.CodeNotFound, Op: "run", Detail: "no command"}
	}
	path, err := find(argv[0], Lookup(env, "PATH"), dir, exists)
	if err != nil {
		return Program{}, err
	}
	cmd := winpath.Join(systemDir, "cmd.exe")
	lower := strings.ToLower(path)
	var line string
	switch {
	case strings.HasSuffix(lower, ".bat"), strings.HasSuffix(lower, ".cmd"):
		line, err = quote.Batch(cmd, path, argv[1:])
		path = cmd
	case winpath.Key(winpath.Base(path)) == "CMD.EXE" && shellLine(argv) != "":
		line, err = quote.Cmd(path, shellLine(argv))
	case strings.HasSuffix(lower, ".exe"), strings.HasSuffix(lower, ".com"):
		line, err = quote.Argv(append([]string{path}, argv[1:]...))
	default:
		return Program{}, &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: argv[0], Detail: "neither a program (.exe, .com) nor a batch file (.bat, .cmd)",
			Hint: "name the program that runs it, such as python or node, in front"}
	}
	if err != nil {
		return Program{}, &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: argv[0], Detail: err.Error()}
	}
	return Program{path, line}, nil
}

// shellLine gives the line of `cmd /c LINE` when the words are exactly that; with more switches or words cmd.exe is a program like others.
func shellLine(argv []string) string {
	n := len(argv)
	if n < 3 || !strings.EqualFold(argv[n-2], "/c") {
		return ""
	}
	for _, w := range argv[1 : n-2] {
		if !strings.EqualFold(w, "/d") && !strings.EqualFold(w, "/s") {
			return ""
		}
	}
	return argv[n-1]
}

func find(name, path, dir string, exists func(string) bool) (string, error) {
	notFound := &wire.Fault{Code: wire.CodeNotFound, Op: "run", Path: name, Detail: "not found where the command may look",
		Hint: "is it installed under your own profile? then add its folder to allowRead"}
	var folders []string
	native := strings.ReplaceAll(name, "/", `\`)
	if strings.ContainsAny(native, `\:`) {
		full, err := absolute(native, dir)
		if err != nil {
			return "", &wire.Fault{Code: wire.CodeNotFound, Op: "run", Path: name, Detail: err.Error()}
		}
		folders, native = []string{winpath.Parent(full)}, winpath.Base(full)
	} else {
		for _, f := range strings.Split(path, ";") {
			f = strings.Trim(f, `"`)
			if clean, err := winpath.Clean(f); err == nil && f != "" { // a relative folder would depend on where the command stands
				folders = append(folders, clean)
			}
		}
	}
	if winpath.CheckName(native) != nil {
		return "", notFound
	}
	for _, f := range folders {
		for _, candidate := range candidates(native) {
			if full := winpath.Join(f, candidate); exists(full) {
				return full, nil
			}
		}
	}
	return "", notFound
}

func candidates(name string) []string {
	var out []string
	if strings.Contains(name, ".") {
		out = append(out, name)
	}
	for _, e := range extensions {
		out = append(out, name+e)
	}
	return out
}

// absolute resolves a path with "." and ".." against dir, by spelling.
func absolute(p, dir string) (string, error) {
	full := p
	switch {
	case strings.HasPrefix(p, `\\`), len(p) > 1 && p[1] == ':':
	case strings.HasPrefix(p, `\`):
		full = dir[:2] + p
	default:
		full = winpath.Join(dir, p)
	}
	if len(full) < 3 || full[1] != ':' || full[2] != '\\' {
		return winpath.Clean(full)
	}
	var parts []string
	for _, part := range strings.Split(full[3:], `\`) {
		switch part {
		case "", ".":
		case "..":
			parts = parts[:max(0, len(parts)-1)]
		default:
			parts = append(parts, part)
		}
	}
	return winpath.Clean(full[:3] + strings.Join(parts, `\`))
}
