package plan

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
)

// defaultPath is where execvp(3) looks without PATH.
const defaultPath = "/usr/bin:/bin"

// lookup says beforehand whether sandbox-exec will find the program, because its own exit status for that is not ours: CodeNotFound
// (127) or CodeNotExec (126). It looks where execvp(3) will, at what the command may execute.
func lookup(cmd wire.Command, h Host, files *pathrule.Policy) error {
	name := cmd.Argv[0]
	if strings.ContainsRune(name, '/') {
		p := name
		if !path.IsAbs(p) {
			p = path.Join(cmd.Dir, p)
		}
		return try(name, p, h, files)
	}
	list := lookupEnv(cmd.Env, "PATH")
	if list == "" {
		list = defaultPath
	}
	var denied error
	for dir := range strings.SplitSeq(list, ":") {
		if !path.IsAbs(dir) {
			dir = path.Join(cmd.Dir, dir)
		}
		err := try(name, path.Join(dir, name), h, files)
		if err == nil {
			return nil
		}
		if f := (*wire.Fault)(nil); denied == nil && errors.As(err, &f) && f.Code == wire.CodeNotExec && name != "" {
			denied = err
		}
	}
	if denied != nil {
		return denied
	}
	return notFound(name)
}

func notFound(name string) error {
	return &wire.Fault{Code: wire.CodeNotFound, Op: "run", Path: name, Detail: "command not found"}
}

func try(name, p string, h Host, files *pathrule.Policy) error {
	err := h.Executable(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notFound(name)
	case err != nil:
		return &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: p, Detail: reason(err)}
	}
	if files != nil {
		if d := files.Decide(pathrule.OpExec, p); !d.Allowed {
			return &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: p, Detail: "denyRead hides it", Hint: "add it to filesystem.allowRead"}
		}
	}
	return nil
}

func reason(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied"
	}
	return err.Error()
}
