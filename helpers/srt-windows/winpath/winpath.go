// Package winpath reads Windows paths as text, on any system. It is pure: it asks no file system, so it never says that two names are
// the same object, only that two spellings are. It must never accept a spelling that Windows reads as something else.
package winpath

import (
	"errors"
	"fmt"
	"strings"
)

// reserved are names that mean a device in every directory, with any extension.
var reserved = map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true, "CONIN$": true, "CONOUT$": true,
	"COM1": true, "COM2": true, "COM3": true, "COM4": true, "COM5": true, "COM6": true, "COM7": true, "COM8": true, "COM9": true,
	"COM¹": true, "COM²": true, "COM³": true, "LPT1": true, "LPT2": true, "LPT3": true, "LPT4": true, "LPT5": true, "LPT6": true,
	"LPT7": true, "LPT8": true, "LPT9": true, "LPT¹": true, "LPT²": true, "LPT³": true}

// Clean gives the one spelling that srt compares: C:\Dir\Name, upper-case drive letter, no trailing separator but for a root. Slashes
// and the \\?\ prefix are accepted; what is not an absolute path on a drive, or would be read in another way by Windows, is an error.
func Clean(path string) (string, error) {
	fail := func(why string) (string, error) { return "", fmt.Errorf("path %q: %s", path, why) }
	p := strings.ReplaceAll(path, "/", `\`)
	p = strings.TrimPrefix(p, `\\?\`)
	switch {
	case strings.HasPrefix(p, `UNC\`), strings.HasPrefix(p, `\\`):
		return fail("a network or device path; only folders on a local drive can be guarded")
	case len(p) < 2 || p[1] != ':' || !letter(p[0]):
		return fail("not an absolute path on a drive, such as C:\\work")
	case len(p) == 2 || p[2] != '\\':
		return fail(`relative to a drive's current folder; write C:\ for its root`)
	}
	root := strings.ToUpper(p[:1]) + `:\`
	var parts []string
	for _, part := range strings.Split(p[3:], `\`) {
		if part == "" {
			continue
		}
		if err := CheckName(part); err != nil {
			return fail(err.Error())
		}
		parts = append(parts, part)
	}
	return root + strings.Join(parts, `\`), nil
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// CheckName says what is wrong with one component of a path.
func CheckName(part string) error {
	switch {
	case part == "." || part == "..":
		return errors.New(`"." and ".." are not resolved here`)
	case strings.ContainsAny(part, `<>"|?*:`):
		return fmt.Errorf("%q has a character that no name may have (a colon would name a stream of the file)", part)
	case strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0xFFFD }):
		return fmt.Errorf("%q has a control or broken character", part)
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return fmt.Errorf("%q ends in a dot or a space, which Windows drops", part)
	}
	stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
	if reserved[strings.TrimRight(stem, " ")] {
		return fmt.Errorf("%q names a device", part)
	}
	return nil
}

// Key folds case. Equal keys are the same spelling; the file system has the last word on what is the same object.
func Key(path string) string { return strings.ToUpper(path) }

// Root gives the root of the drive of a clean path.
func Root(path string) string { return path[:3] }

// Parent gives the directory of a clean path; a root is its own.
func Parent(path string) string {
	if i := strings.LastIndexByte(path, '\\'); i > 2 {
		return path[:i]
	}
	return Root(path)
}

// Join adds one name.
func Join(dir, name string) string {
	return strings.TrimSuffix(dir, `\`) + `\` + name
}

// Base gives the last name, "" for a root.
func Base(path string) string {
	if len(path) <= 3 {
		return ""
	}
	return path[strings.LastIndexByte(path, '\\')+1:]
}

// Within says whether path is dir or lies below it, by spelling.
func Within(dir, path string) bool {
	d, p := Key(strings.TrimSuffix(dir, `\`)), Key(path)
	return p == d || strings.HasPrefix(p, d+`\`) || p == d+`\`
}

// Above lists the directories strictly between dir and path, nearest to path first; dir itself is the last of them when it is above path.
func Above(dir, path string) []string {
	var out []string
	for p := path; Key(p) != Key(dir) && len(p) > 3; {
		p = Parent(p)
		if !Within(dir, p) {
			break
		}
		out = append(out, p)
	}
	return out
}
