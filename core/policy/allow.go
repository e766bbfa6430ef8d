package policy

import (
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/wire"
)

// AllowLine gives the setting that would have let v pass, such as `network.allowedDomains: "example.com"`, or "" when there is none
// or none that should be recommended. The target was chosen by the command: one that does not print as it is gets no line.
func (p *Policy) AllowLine(v wire.Violation) string {
	if q := strconv.Quote(v.Target); v.Target == "" || q != `"`+v.Target+`"` || len(q) > maxPath {
		return ""
	}
	switch v.Operation {
	case "network-outbound":
		return p.allowHost(v)
	case "file-write":
		return p.allowWrite(v)
	case "file-read":
		if has(p.files.DenyRead, v.Rule) {
			return withPath("filesystem.allowRead", p.short(v.Target))
		}
	case "unix-socket":
		return withPath("network.allowUnixSockets", p.short(v.Target))
	}
	return ""
}

// notListed is proxyd's reason for a host that is on no list.
const notListed = "not on the allow list"

func (p *Policy) allowHost(v wire.Violation) string {
	if v.Rule != "" {
		for _, d := range p.proxy.DeniedDomains {
			if d == v.Rule {
				return without("network.deniedDomains", d)
			}
		}
		return ""
	}
	hp, err := hostmatch.ParseHostPort(v.Target, 0)
	if err != nil || v.Reason != "" && v.Reason != notListed { // the user said no, or the address is refused: no line is good advice
		return ""
	}
	if hp.Port == 80 || hp.Port == 443 {
		return with("network.allowedDomains", strings.TrimSuffix(hp.String(), ":"+strconv.Itoa(int(hp.Port))))
	}
	return with("network.allowedDomains", hp.String())
}

func (p *Policy) allowWrite(v wire.Violation) string {
	name, _, _ := strings.Cut(v.Rule, ": ") // the rule of a mandatory deny has its reason behind it
	switch {
	case v.Rule == "" && p.writingStaysDenied(v.Target):
		return ""
	case v.Rule == "":
		return withPath("filesystem.allowWrite", p.short(v.Target))
	case name == "srt": // the settings, its own binaries
		return ""
	case has(p.files.DenyWrite, v.Rule):
		return without("filesystem.denyWrite", v.Rule)
	case name == gitConfig:
		return "filesystem.allowGitConfig: true"
	case isProtected(name):
		return with("filesystem.allowProtected", name)
	}
	return ""
}

// writingStaysDenied: on Linux these are the sandbox's own, and below an allowWrite entry it is another rule that denies.
func (p *Policy) writingStaysDenied(path string) bool {
	own := []string{"/dev", "/proc", "/sys"}
	if p.ctx.GOOS != "linux" {
		own = nil
	}
	for _, e := range p.files.AllowWrite {
		own = append(own, e.Path)
	}
	for _, dir := range own {
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// short spells a path as a user would: below the working directory or below home.
func (p *Policy) short(path string) string {
	s := stylePaths(p.ctx)
	path = s.slash(path)
	if path == s.clean(p.ctx.Dir) {
		return "."
	}
	for _, b := range []struct{ dir, as string }{{p.ctx.Dir, "./"}, {p.ctx.Home, "~/"}} {
		if rest, ok := strings.CutPrefix(path, s.clean(b.dir)); ok && len(rest) > 1 && rest[0] == '/' {
			return b.as + rest[1:]
		}
	}
	return path
}

func has(list []wire.PathEntry, rule string) bool {
	for _, e := range list {
		if e.Rule == rule {
			return true
		}
	}
	return false
}

func with(key, value string) string { return key + ": " + strconv.Quote(value) }

func withPath(key, path string) string {
	if hasMeta(path) {
		return key + `: {"path": ` + strconv.Quote(path) + `, "literal": true}`
	}
	return with(key, path)
}

func without(key, value string) string { return key + ": without " + strconv.Quote(value) }
