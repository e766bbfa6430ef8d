package oneshot

import (
	"os"
	"path/filepath"

	"github.com/srt-dev/srt/core/wire"
)

// Find gives the absolute path of a binary that belongs to srt: ../libexec/srt/NAME as seen from the binary that runs. PATH, the
// environment and settings are never asked, because this program runs outside the sandbox. It is refused when somebody else could
// have changed it.
func Find(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", &wire.Fault{Code: wire.CodeInternal, Op: "find", Path: name, Detail: err.Error()}
	}
	return findFrom(self, name)
}

func findFrom(self, name string) (string, error) {
	return FindIn(filepath.Join(filepath.Dir(filepath.Dir(self)), "libexec", "srt"), name)
}

// FindIn is Find for a program that srt was installed apart from: dir is an absolute directory that the program itself knows.
func FindIn(dir, name string) (string, error) {
	if !filepath.IsAbs(dir) || name != filepath.Base(name) {
		return "", &wire.Fault{Code: wire.CodeInternal, Op: "find", Path: name, Detail: "not below an absolute directory"}
	}
	path := filepath.Join(dir, name+suffix)
	for _, p := range []string{dir, path} {
		info, err := os.Lstat(p)
		if err != nil {
			return "", &wire.Fault{Code: wire.CodeUnsupported, Op: "find", Path: p, Detail: cause(err),
				Hint: "keep bin and libexec side by side as the build leaves them"}
		}
		if err := trusted(p, info, p == path); err != nil {
			return "", err
		}
	}
	return path, nil
}

// cause is err without the operation and the path, which the Fault has already.
func cause(err error) string {
	if e, ok := err.(*os.PathError); ok { //nolint:errorlint // os.Lstat documents this type
		return e.Err.Error()
	}
	return err.Error()
}
