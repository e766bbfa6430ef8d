package profile

import (
	"fmt"
	"path"
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// DataVolume is where the volume of changeable files is mounted. Seatbelt never sees it in the path of a firmlink's other side.
const DataVolume = "/System/Volumes/Data"

// firmlinks are the directories of the sealed system volume that continue on the data volume (/usr/share/firmlinks).
var firmlinks = []string{
	"/AppleInternal", "/Applications", "/Library", "/Users", "/Volumes", "/cores", "/opt", "/private", "/usr/local",
	"/usr/libexec/cups", "/usr/share/snmp", "/System/Library/Assets", "/System/Library/AssetsV2", "/System/Library/Caches",
	"/System/Library/PreinstalledAssets", "/System/Library/PreinstalledAssetsV2", "/System/Library/Speech",
	"/System/Library/CoreServices/CoreTypes.bundle/Contents/Library",
}

// Canonical takes the data volume's prefix from a path that a firmlink leads to. ok is false where the path has no other name.
func Canonical(p string) (_ string, ok bool) {
	if !inside(p, DataVolume) {
		return p, true
	}
	short := strings.TrimPrefix(p, DataVolume)
	for _, f := range firmlinks {
		if inside(short, f) {
			return short, true
		}
	}
	return p, false
}

// place is a path that rules speak of. Of a denial the components from fold on are matched in every spelling: they do not exist yet,
// or could come into being again in another one.
type place struct {
	path string
	fold int // length of the part that is written exactly; len(path): all of it
}

// exactly is the place of an allowance: what is on the disk, in its own spelling.
func (g *generator) exactly(p string) string {
	real, _ := g.real(p)
	g.check(real)
	return real
}

// anySpelling is the place of a denial. Above the writable trees nothing can come into being, so what exists there stays as it is.
func (g *generator) anySpelling(p string) place {
	real, exists := g.real(p)
	g.check(real)
	fold := exists
	for _, root := range g.writable {
		if real != root && inside(real, root) {
			fold = min(fold, len(root))
		}
	}
	if fold < len(real) {
		fold = strings.LastIndexByte(real[:fold+1], '/')
	}
	return place{real, fold}
}

// check refuses a path that no rule can name. One that leads through a link is a bug: the rule would be inert.
func (g *generator) check(p string) {
	top, rest, below := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch err := sbpl.CheckString(p); {
	case err != nil:
		g.fail(p, "cannot be written in a Seatbelt profile: "+err.Error(), "name a directory above it")
	case !strings.HasPrefix(p, "/") || path.Clean(p) != p:
		g.fail(p, "is not an absolute, clean path (a bug, please report)", "")
	case inside(p, DataVolume):
		g.fail(p, "lies on the data volume and has no name that Seatbelt knows", "name it by the path that other programs show")
	case below && rest != "" && (top == "tmp" || top == "var" || top == "etc"):
		g.fail(p, fmt.Sprintf("leads through the link /%s (a bug, please report)", top), "")
	}
}

// fail keeps the first reason.
func (g *generator) fail(path, detail, hint string) {
	if g.w.err == nil {
		g.w.err = &wire.Fault{Code: wire.CodePolicy, Op: "write the Seatbelt profile", Path: path, Detail: detail, Hint: hint}
	}
}

func inside(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}

// parent gives the directory of a clean path; the root is its own.
func parent(p string) string {
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return p[:i]
	}
	return "/"
}

func tooLarge(n int) error {
	return &wire.Fault{Code: wire.CodePolicy, Op: "write the Seatbelt profile", Detail: fmt.Sprintf("%d bytes, at most %d can be handed to sandbox-exec", n, MaxSize),
		Hint: "name directories instead of the many files in them"}
}
