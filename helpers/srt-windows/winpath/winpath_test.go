package winpath

import (
	"slices"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for name, c := range map[string]struct{ in, want, err string }{
		"plain":                       {`C:\Work\a.txt`, `C:\Work\a.txt`, ""},
		"slashes, lower-case drive":   {`c:/Work//a/`, `C:\Work\a`, ""},
		"a root":                      {`d:\`, `D:\`, ""},
		"long form":                   {`\\?\C:\Work`, `C:\Work`, ""},
		"a drive alone":               {`C:`, "", `path "C:": relative to a drive's current folder; write C:\ for its root`},
		"drive-relative":              {`C:work`, "", `path "C:work": relative to a drive's current folder; write C:\ for its root`},
		"no drive":                    {`\Work`, "", `path "\\Work": not an absolute path on a drive, such as C:\work`},
		"relative":                    {`Work`, "", `path "Work": not an absolute path on a drive, such as C:\work`},
		"a share":                     {`\\server\share\a`, "", `path "\\\\server\\share\\a": a network or device path; only folders on a local drive can be guarded`},
		"a share, long form":          {`\\?\UNC\server\share`, "", `path "\\\\?\\UNC\\server\\share": a network or device path; only folders on a local drive can be guarded`},
		"a device":                    {`\\.\PhysicalDrive0`, "", `path "\\\\.\\PhysicalDrive0": a network or device path; only folders on a local drive can be guarded`},
		"this machine as a share":     {`\\localhost\C$\Users`, "", `path "\\\\localhost\\C$\\Users": a network or device path; only folders on a local drive can be guarded`},
		"a drive as a device":         {`//./C:/Users`, "", `path "//./C:/Users": a network or device path; only folders on a local drive can be guarded`},
		"long form with slashes":      {`//?/c:/Work`, `C:\Work`, ""},
		"the object manager's form":   {`\??\C:\Work`, "", `path "\\??\\C:\\Work": not an absolute path on a drive, such as C:\work`},
		"the object manager's root":   {`\\?\GLOBALROOT\Device\HarddiskVolume1`, "", `path "\\\\?\\GLOBALROOT\\Device\\HarddiskVolume1": not an absolute path on a drive, such as C:\work`},
		"a volume without a letter":   {`\\?\Volume{0}\a`, "", `path "\\\\?\\Volume{0}\\a": not an absolute path on a drive, such as C:\work`},
		"a folder as a stream":        {`C:\a::$INDEX_ALLOCATION`, "", `path "C:\\a::$INDEX_ALLOCATION": "a::$INDEX_ALLOCATION" has a character that no name may have (a colon would name a stream of the file)`},
		"the long form of a dot":      {`\\?\C:\a.`, "", `path "\\\\?\\C:\\a.": "a." ends in a dot or a space, which Windows drops`},
		"dot dot":                     {`C:\a\..\b`, "", `path "C:\\a\\..\\b": "." and ".." are not resolved here`},
		"a stream":                    {`C:\a.txt:s`, "", `path "C:\\a.txt:s": "a.txt:s" has a character that no name may have (a colon would name a stream of the file)`},
		"trailing dot":                {`C:\a.\b`, "", `path "C:\\a.\\b": "a." ends in a dot or a space, which Windows drops`},
		"trailing space":              {`C:\a `, "", `path "C:\\a ": "a " ends in a dot or a space, which Windows drops`},
		"a device name":               {`C:\a\nul.txt`, "", `path "C:\\a\\nul.txt": "nul.txt" names a device`},
		"a device name with a space":  {`C:\a\con .txt`, "", `path "C:\\a\\con .txt": "con .txt" names a device`},
		"a device name, superscript":  {`C:\com¹`, "", `path "C:\\com¹": "com¹" names a device`},
		"a name that starts like one": {`C:\console`, `C:\console`, ""},
		"a control character":         {"C:\\a\x00b", "", `path "C:\\a\x00b": "a\x00b" has a control or broken character`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Clean(c.in)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Fatalf("Clean(%q) = %q, %v", c.in, got, err)
			}
		})
	}
}

func TestRelations(t *testing.T) {
	for name, ok := range map[string]bool{
		"a path is within itself":              Within(`C:\Work`, `c:\WORK`),
		"below":                                Within(`C:\Work`, `C:\work\a\b`),
		"a longer name is not below":           !Within(`C:\Work`, `C:\Workshop`),
		"everything is below the root":         Within(`C:\`, `C:\a`) && Within(`C:\`, `C:\`),
		"another drive is not":                 !Within(`C:\`, `D:\a`),
		"the root is its own parent":           Parent(`C:\`) == `C:\` && Parent(`C:\a`) == `C:\`,
		"base":                                 Base(`C:\a\b`) == "b" && Base(`C:\`) == "",
		"join at the root":                     Join(`C:\`, "a") == `C:\a`,
		"what lies above":                      slices.Equal(Above(`C:\Work`, `c:\work\a\b`), []string{`c:\work\a`, `c:\work`}),
		"nothing lies above a path itself":     len(Above(`C:\Work`, `C:\Work`)) == 0,
		"nothing lies between when not within": len(Above(`C:\Work`, `C:\x`)) == 0,
	} {
		if !ok {
			t.Errorf("%s: not so", name)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{`C:\a\b`, `c:/x/`, `\\?\D:\`, `C:\nul`, `C:\a:b`, `C:\..`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := Clean(in)
		if err != nil {
			return
		}
		again, err := Clean(got)
		if err != nil || again != got {
			t.Fatalf("Clean(%q) = %q, and that gives %q, %v", in, got, again, err)
		}
		if strings.Contains(got, "..\\") && !strings.Contains(in, "..") || strings.ContainsAny(got[2:], "/:*?\"<>|\x00") {
			t.Fatalf("Clean(%q) = %q", in, got)
		}
		if !Within(Root(got), got) || !Within(Parent(got), got) {
			t.Fatalf("%q is not within its own root and parent", got)
		}
	})
}
