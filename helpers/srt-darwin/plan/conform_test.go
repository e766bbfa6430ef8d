package plan

import (
	"strconv"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/srttest/conform"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

// fileOps are the operations of the table that are about files.
var fileOps = map[string]pathrule.Op{"read": pathrule.OpRead, "list": pathrule.OpList, "stat": pathrule.OpStat, "exec": pathrule.OpExec,
	"write": pathrule.OpWrite, "truncate": pathrule.OpTruncate, "chmod": pathrule.OpChmod, "create": pathrule.OpCreate, "mkdir": pathrule.OpMkdir,
	"symlink": pathrule.OpSymlink, "remove": pathrule.OpRemove, "rename": pathrule.OpRename, "link": pathrule.OpLink}

const (
	proxyPort = 49152
	otherPort = 5432
)

// TestConform asks the model of macOS, from the settings file to the profile, every question of the table that Linux is asked for real.
// It does so where the working directory lies in a home directory, below a link of the system (/tmp), below a firmlink that is
// written from its other side, and below a link that leads there.
func TestConform(t *testing.T) {
	for _, base := range []string{"/Users/u/b", "/private/tmp/b", "/tmp/b", "/System/Volumes/Data/Users/u/b", "/link/b"} {
		t.Run(strings.ReplaceAll(base[1:], "/", "."), func(t *testing.T) { conformAt(t, conform.Place{Base: base}) })
	}
}

func conformAt(t *testing.T, place conform.Place) {
	cases, err := conform.Cases(place)
	if err != nil {
		t.Fatal(err)
	}
	allowed, refused := 0, 0
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			fs := memfs.New("/bin/sh = x", "/tmp -> private/tmp", "/link -> /System/Volumes/Data/Users/u", "/private/tmp/tmp-1/")
			for _, entry := range c.Tree {
				fs.Add(real(entry))
			}
			req, err := c.Request("darwin", place, []string{"/bin/sh"}, []string{"PATH=/bin", "TMPDIR=/private/tmp/tmp-1"}, "127.0.0.1:"+strconv.Itoa(proxyPort))
			if err != nil {
				t.Fatal(err)
			}
			p, err := Build(req, dataVolume{host{fs}}, "")
			if c.Error != "" {
				if err == nil || !strings.Contains(err.Error(), c.Error) {
					t.Errorf("got %v, want %s", err, c.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, release := range []sbpltest.Release{sbpltest.MacOS14, sbpltest.MacOS26} {
				j, err := sbpltest.Load(p.Argv[2], release)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range sbpltest.Orders() {
					m := sbpltest.Machine{Profile: j, Order: o, FS: fs}
					for _, q := range c.Questions {
						err := ask(t, m, q)
						if want := q.Allowed("darwin"); (err == nil) != want {
							t.Errorf("%v: %v: got %v, to be allowed: %v", o, q, err, want)
						}
						if err == nil {
							allowed++
						} else {
							refused++
						}
					}
				}
			}
		})
	}
	if allowed < 300 || refused < 700 {
		t.Errorf("%d allowed, %d refused: too few to say much", allowed, refused)
	}
}

// real spells an entry of a tree as the disk has it.
func real(entry string) string {
	for from, to := range map[string]string{"/tmp/": "/private/tmp/", "/System/Volumes/Data/": "/", "/link/": "/Users/u/"} {
		if rest, ok := strings.CutPrefix(entry, from); ok {
			return to + rest
		}
	}
	return entry
}

// dataVolume is a host whose files are found below the data volume's own name as well.
type dataVolume struct{ host }

func (d dataVolume) Lstat(p string) pathrule.Kind { return d.host.Lstat(real(p)) }

func (d dataVolume) Readlink(p string) string { return real(d.host.Readlink(real(p))) }

func (d dataVolume) ReadFile(p string) []byte { return d.host.ReadFile(real(p)) }

func (d dataVolume) ReadDir(p string, visit func([]byte, pathrule.Kind)) error {
	return d.host.ReadDir(real(p), visit)
}

// ask asks one question of the model.
func ask(t *testing.T, m sbpltest.Machine, q conform.Question) error {
	t.Helper()
	if op, ok := fileOps[q.Op]; ok {
		if len(q.Args) == 2 {
			return m.DoPair(op, q.Args[0], q.Args[1])
		}
		return m.Do(op, q.Args[0])
	}
	tcp := sbpltest.Query{IP: true, TCP: true, Host: "127.0.0.1", Port: otherPort}
	switch q.String() {
	case "connect proxy":
		tcp.Op, tcp.Port = "network-outbound", proxyPort
		return m.Ask(tcp)
	case "connect other":
		tcp.Op = "network-outbound"
		return m.Ask(tcp)
	case "bind 127.0.0.1":
		tcp.Op = "network-bind"
		return m.Ask(tcp)
	}
	op, ok := map[string]string{"dial": "network-outbound", "serve": "network-bind"}[q.Op]
	if !ok {
		t.Fatalf("no question to the model: %v", q)
	}
	path, _ := pathrule.Resolve(m.FS, real(q.Args[0]))
	if err := m.Ask(sbpltest.Query{Op: "system-socket", Domain: "AF_UNIX"}); err != nil {
		return err
	}
	return m.Ask(sbpltest.Query{Op: op, Path: path})
}

// TestOnePlaceOneProfile: settings that name a place by the data volume's own name give the same profile, byte for byte.
func TestOnePlaceOneProfile(t *testing.T) {
	profiles := map[string]string{}
	for _, base := range []string{"/private/tmp/b", "/System/Volumes/Data/private/tmp/b"} {
		place := conform.Place{Base: base}
		cases, err := conform.Cases(place)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.Error != "" {
				continue
			}
			fs := memfs.New("/bin/sh = x", "/private/tmp/tmp-1/")
			for _, entry := range c.Tree {
				fs.Add(real(entry))
			}
			req, err := c.Request("darwin", place, []string{"/bin/sh"}, []string{"PATH=/bin", "TMPDIR=" + strings.TrimSuffix(base, "/b") + "/tmp-1"}, "127.0.0.1:1")
			if err != nil {
				t.Fatal(err)
			}
			p, err := Build(req, dataVolume{host{fs}}, "")
			if err != nil {
				t.Fatalf("%s: %s: %v", base, c.Name, err)
			}
			if first, ok := profiles[c.Name]; !ok {
				profiles[c.Name] = p.Argv[2]
			} else if p.Argv[2] != first {
				t.Errorf("%s: %s: another profile than below /private/tmp:\n%s\nwant\n%s", base, c.Name, p.Argv[2], first)
			}
		}
	}
	if len(profiles) < 40 {
		t.Errorf("%d profiles", len(profiles))
	}
}
