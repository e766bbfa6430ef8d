package profile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

// build makes the profile of a policy on a tree.
func build(t *testing.T, g golden, tree ...string) (*sbpltest.Profile, Profile, *memfs.FS) {
	t.Helper()
	fs := memfs.New(append(tree, "/Users/u/p/")...)
	spec, err := g.spec(fs)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Generate(spec)
	if err != nil {
		t.Fatal(err)
	}
	j, err := sbpltest.Load(p.Text, sbpltest.MacOS14)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Text)
	}
	return j, p, fs
}

// answers asks under every reading; a question is the path for op, with "+" in front when it is to be allowed.
func answers(t *testing.T, j *sbpltest.Profile, q sbpltest.Query, want bool) {
	t.Helper()
	for _, o := range sbpltest.Orders() {
		if got := j.Decide(o, q); got.Allow != want {
			t.Errorf("%v: %+v: allowed %v by line %d, want %v", o, q, got.Allow, got.Line, want)
		}
	}
}

func TestEverySpelling(t *testing.T) {
	j, _, _ := build(t, golden{AllowWrite: []string{"/Users/u/P"}, Protected: "all",
		DenyWrite: []string{"/Users/u/p/Secret", "/Users/u/p/new/café", "/Users/u/p/pass", "glob:/Users/u/p/*.Lock?"}, DenyRead: []string{"/Users/u/p/key", "glob:/Users/u/p/**/é*"}},
		"/Users/u/p/Secret", "/Users/u/p/key")
	for name, c := range map[string]struct {
		op, path string
		want     bool
	}{
		"the tree, as the disk spells it":      {"file-write-create", "/Users/u/p/x", true},
		"as it was written":                    {"file-write-create", "/Users/u/p/Secret", false},
		"other letters":                        {"file-write-create", "/Users/u/p/sECRET", false},
		"below":                                {"file-write-create", "/Users/u/p/secret/a", false},
		"a longer name":                        {"file-write-create", "/Users/u/p/secrets", true},
		"decomposed":                           {"file-write-create", "/Users/u/p/NEW/cafe\u0301", false},
		"composed, in capitals":                {"file-write-create", "/Users/u/p/new/CAF\u00c9", false},
		"decomposed, in capitals":              {"file-write-create", "/Users/u/p/new/CAFE\u0301", false},
		"without the accent":                   {"file-write-create", "/Users/u/p/other/cafe", true},
		"ß for ss":                             {"file-write-create", "/Users/u/p/paß", false},
		"long s":                               {"file-write-create", "/Users/u/p/\u017fecret", false},
		"the Kelvin sign":                      {"file-write-create", "/Users/u/p/\u212aey", false},
		"a ligature in a protected name":       {"file-write-create", "/Users/u/p/.pro\ufb01le", false},
		"a joiner that HFS+ skips":             {"file-write-create", "/Users/u/p/.g\u200dit/config", false},
		"a protected name in capitals":         {"file-write-create", "/Users/u/p/a/.BashRC", false},
		"a protected sequence in capitals":     {"file-write-data", "/Users/u/p/.GIT/Hooks/pre-commit", false},
		"its first part in capitals":           {"file-write-create", "/Users/u/p/.Claude", false},
		"a hidden file in capitals":            {"file-read-data", "/Users/u/p/KEY", false},
		"a pattern in other letters":           {"file-write-create", "/Users/u/p/a.LOCK1", false},
		"a character of several bytes for ?":   {"file-write-create", "/Users/u/p/a.lockü", false},
		"too many characters for ?":            {"file-write-create", "/Users/u/p/a.lock12", true},
		"a pattern, decomposed":                {"file-read-data", "/Users/u/p/a/e\u0301x", false},
		"a pattern, composed, in capitals":     {"file-read-data", "/Users/u/p/a/\u00c9x", false},
		"outside of the tree":                  {"file-write-create", "/Users/u/q", false},
		"the tree in letters the disk has not": {"file-write-create", "/Users/u/P/x", false},
	} {
		t.Run(name, func(t *testing.T) {
			answers(t, j, sbpltest.Query{Op: c.op, Path: c.path, Vnode: sbpltest.Regular}, c.want)
		})
	}
}

func TestRefused(t *testing.T) {
	long := "/Users/u/p/" + strings.Repeat("0123456789", 99)
	for name, c := range map[string]struct {
		g   golden
		err string
	}{
		"a control character": {golden{DenyRead: []string{"/Users/u/a\nb"}},
			`write the Seatbelt profile "/Users/u/a\nb": cannot be written in a Seatbelt profile: "/Users/u/a\nb" holds the control character U+000A`},
		"bytes that are no text": {golden{DenyWrite: []string{"/Users/u/p/a\xff"}, AllowWrite: []string{"/Users/u/p"}},
			`write the Seatbelt profile "/Users/u/p/a\xff": cannot be written in a Seatbelt profile: "/Users/u/p/a\xff" is not valid UTF-8`},
		"a path that is too long": {golden{DenyRead: []string{long}},
			fmt.Sprintf(`write the Seatbelt profile %q: cannot be written in a Seatbelt profile: 1001 bytes in a profile, which takes at most 1000`, long)},
		"the data volume beside its firmlinks": {golden{DenyRead: []string{"/System/Volumes/Data/x"}},
			`write the Seatbelt profile "/System/Volumes/Data/x": lies on the data volume and has no name that Seatbelt knows`},
		"a link of the system": {golden{DenyRead: []string{"/tmp/x"}},
			`write the Seatbelt profile "/tmp/x": leads through the link /tmp (a bug, please report)`},
		"a service that is everything": {golden{Process: wire.ProcPolicy{AllowMachLookup: []string{"*"}}},
			`allowMachLookup "*": is not the name of a service`},
		"a service that is nearly everything": {golden{Process: wire.ProcPolicy{AllowMachLookup: []string{"com.apple*"}}},
			`allowMachLookup "com.apple*": opens nearly every service of the system, which leads out of the sandbox`},
		"a service with a quote": {golden{Process: wire.ProcPolicy{AllowMachLookup: []string{`a"b`}}},
			`allowMachLookup "a\"b": is not the name of a service`},
		"a proxy elsewhere": {golden{Network: wire.NetPolicy{ProxyAddr: "10.0.0.1:80"}},
			`proxy address "10.0.0.1:80": is not 127.0.0.1 and a port (a bug, please report)`},
		"a proxy without a port": {golden{Network: wire.NetPolicy{ProxyAddr: "127.0.0.1:0"}},
			`proxy address "127.0.0.1:0": is not 127.0.0.1 and a port (a bug, please report)`},
	} {
		t.Run(name, func(t *testing.T) {
			spec, err := c.g.spec(memfs.New("/Users/u/p/"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = Generate(spec)
			var f *wire.Fault
			if !errors.As(err, &f) || f.Error() != c.err || f.Code != wire.CodePolicy {
				t.Errorf("got  %v\nwant %s", err, c.err)
			}
		})
	}
	spec, err := (&golden{}).spec(memfs.New("/w/"))
	if err != nil {
		t.Fatal(err)
	}
	spec.Tag = "a b"
	if _, err := Generate(spec); err == nil || err.Error() != `write the Seatbelt profile "a b": is not a tag for log lines` {
		t.Errorf("a tag with a space: %v", err)
	}
}

// A long name whose every spelling does not fit is covered more widely instead.
func TestLongName(t *testing.T) {
	name := strings.Repeat("abcdefg-", 30) // 240 bytes, 870 when every letter is spelt in both cases
	dir := "/Users/u/p/" + strings.Repeat("0123456789/", 15)
	j, p, _ := build(t, golden{AllowWrite: []string{"/Users/u/p"}, DenyWrite: []string{dir + name}})
	answers(t, j, sbpltest.Query{Op: "file-write-create", Path: dir + strings.ToUpper(name)}, false)
	answers(t, j, sbpltest.Query{Op: "file-write-create", Path: dir + name + "x"}, true)
	if !strings.Contains(p.Text, strings.Repeat(".......-", 30)) {
		t.Errorf("no dots for letters in\n%s", p.Text)
	}
}

func TestManyPaths(t *testing.T) {
	var deny, tree []string
	for i := range 3000 {
		deny = append(deny, fmt.Sprintf("/Users/u/p/packages/module-%02d/generated/file-%04d.json", i%40, i))
		if i%2 == 0 {
			tree = append(tree, deny[i])
		}
	}
	start := time.Now()
	j, p, _ := build(t, golden{AllowWrite: []string{"/Users/u/p"}, DenyWrite: deny, Protected: "all"}, tree...)
	t.Logf("%d paths: %d bytes, made and read in %v", len(deny), len(p.Text), time.Since(start))
	if len(p.Text) > 300_000 {
		t.Errorf("%d bytes", len(p.Text))
	}
	for _, path := range []string{deny[0], deny[1], deny[2999]} {
		answers(t, j, sbpltest.Query{Op: "file-write-data", Path: path}, false)
		answers(t, j, sbpltest.Query{Op: "file-write-create", Path: strings.ToUpper(path[len("/Users/u/p/"):])}, false)
	}
	answers(t, j, sbpltest.Query{Op: "file-write-data", Path: "/Users/u/p/packages/module-00/x"}, true)

	deny = nil
	for i := range 30000 {
		deny = append(deny, fmt.Sprintf("/Users/u/p/d%d/some-longer-name-of-a-file", i))
	}
	g := golden{AllowWrite: []string{"/Users/u/p"}, DenyWrite: deny}
	spec, err := g.spec(memfs.New("/Users/u/p/"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Generate(spec)
	if err == nil || !strings.HasSuffix(err.Error(), "bytes, at most 524288 can be handed to sandbox-exec") {
		t.Errorf("30,000 paths: %v", err)
	}
}

func TestNetwork(t *testing.T) {
	const own, port = 49152, "127.0.0.1:49152"
	tcp := func(op, host string, n int) sbpltest.Query {
		return sbpltest.Query{Op: op, IP: true, TCP: true, Host: host, Port: n}
	}
	unix := func(op, path string) sbpltest.Query { return sbpltest.Query{Op: op, Path: path} }
	for name, c := range map[string]struct {
		g       golden
		yes, no []sbpltest.Query
	}{
		"no network at all": {golden{}, nil,
			[]sbpltest.Query{tcp("network-outbound", "127.0.0.1", own), tcp("network-bind", "127.0.0.1", 8080), unix("network-outbound", "/a"), {Op: "system-socket", Domain: "AF_UNIX"}}},
		"the command's own proxy port": {golden{Network: wire.NetPolicy{ProxyAddr: port}},
			[]sbpltest.Query{tcp("network-outbound", "127.0.0.1", own)},
			[]sbpltest.Query{tcp("network-outbound", "127.0.0.1", own+1), tcp("network-outbound", "93.184.216.34", own), tcp("network-outbound", "::ffff:127.0.0.1", own),
				{Op: "network-outbound", IP: true, Host: "127.0.0.1", Port: own}, tcp("network-bind", "127.0.0.1", own), tcp("network-inbound", "127.0.0.1", own), {Op: "system-socket", Domain: "AF_SYSTEM"}}},
		"an allow-listed loopback port goes through the proxy": {golden{Network: wire.NetPolicy{ProxyAddr: port, Mirrors: []string{"127.0.0.1:5432"}}}, nil,
			[]sbpltest.Query{tcp("network-outbound", "127.0.0.1", 5432)}},
		"local ports": {golden{Network: wire.NetPolicy{ProxyAddr: port, AllowLocalBinding: true}},
			[]sbpltest.Query{tcp("network-bind", "127.0.0.1", 8080), tcp("network-bind", "0.0.0.0", 8080), tcp("network-inbound", "::1", 8080), tcp("network-outbound", "127.0.0.1", 8080)},
			[]sbpltest.Query{tcp("network-inbound", "192.168.1.2", 8080), tcp("network-outbound", "192.168.1.2", 8080)}},
		"unix sockets by path": {golden{Sockets: []string{"/private/var/run/docker.sock"}},
			[]sbpltest.Query{unix("network-outbound", "/private/var/run/docker.sock"), unix("network-bind", "/private/var/run/docker.sock"), {Op: "system-socket", Domain: "AF_UNIX"}},
			[]sbpltest.Query{unix("network-outbound", "/private/var/run/mDNSResponder"), unix("network-outbound", "/private/tmp/agent"), tcp("network-outbound", "127.0.0.1", own)}},
		"unix sockets by pattern": {golden{Sockets: []string{"glob:/private/tmp/app-*.sock"}},
			[]sbpltest.Query{unix("network-outbound", "/private/tmp/app-1.sock")},
			[]sbpltest.Query{unix("network-outbound", "/private/tmp/app-1.sock2"), unix("network-outbound", "/private/tmp/app-1/x.sock"), unix("network-outbound", "/private/tmp/agent")}},
		"all unix sockets but the resolver's": {golden{Process: wire.ProcPolicy{AllowAllUnixSockets: true}},
			[]sbpltest.Query{unix("network-outbound", "/private/tmp/agent"), unix("network-bind", "/private/tmp/a"), unix("network-inbound", "/private/tmp/a")},
			[]sbpltest.Query{unix("network-outbound", "/private/var/run/mDNSResponder"), tcp("network-outbound", "127.0.0.1", own)}},
		"all unix sockets and the resolver's by name": {golden{Process: wire.ProcPolicy{AllowAllUnixSockets: true}, Sockets: []string{"/private/var/run/mDNSResponder"}},
			[]sbpltest.Query{unix("network-outbound", "/private/var/run/mDNSResponder")}, nil},
		"no limits on files do not open the network": {golden{Disabled: true, Network: wire.NetPolicy{ProxyAddr: port}},
			[]sbpltest.Query{{Op: "file-write-data", Path: "/etc/hosts"}, {Op: "file-read-data", Path: "/x"}, {Op: "file-link", Path: "/x"}},
			[]sbpltest.Query{tcp("network-outbound", "127.0.0.1", own+1)}},
	} {
		t.Run(name, func(t *testing.T) {
			j, _, _ := build(t, c.g)
			for _, q := range c.yes {
				answers(t, j, q, true)
			}
			for _, q := range c.no {
				answers(t, j, q, false)
			}
		})
	}
}

func TestProcesses(t *testing.T) {
	tty := func(ioctl uint64) sbpltest.Query {
		return sbpltest.Query{Op: "file-ioctl", Path: "/dev/ttys003", Vnode: sbpltest.CharDev, Ioctl: ioctl}
	}
	const tiocgeta, inject = 0x40487413, 0x80017472
	dev := func(op, path string) sbpltest.Query {
		return sbpltest.Query{Op: op, Path: path, Vnode: sbpltest.CharDev}
	}
	service := func(name string) sbpltest.Query { return sbpltest.Query{Op: "mach-lookup", Name: name} }
	for name, c := range map[string]struct {
		g       golden
		yes, no []sbpltest.Query
	}{
		"every command": {golden{},
			[]sbpltest.Query{{Op: "process-exec*", Path: "/bin/sh"}, {Op: "process-fork"}, {Op: "signal", Target: "same-sandbox"}, {Op: "process-info-pidinfo", Target: "self"},
				{Op: "sysctl-read", Name: "hw.ncpu"}, {Op: "sysctl-read", Name: "kern.osrelease"}, {Op: "ipc-posix-sem-open"}, {Op: "file-map-executable", Path: "/usr/lib/a.dylib"},
				dev("file-write-data", "/dev/null"), dev("file-read-data", "/dev/tty"), dev("file-read-data", "/dev/urandom"), {Op: "file-read-data", Path: "/dev", Vnode: sbpltest.Directory},
				dev("file-read-metadata", "/dev/ttys003"), dev("file-read-data", "/dev/fd/0"), dev("file-write-data", "/dev/fd/1"), service("com.apple.system.opendirectoryd.libinfo")},
			[]sbpltest.Query{{Op: "signal", Target: "others"}, {Op: "process-info-pidinfo", Target: "others"}, {Op: "process-info-listpids", Target: "others"}, {Op: "mach-priv-task-port", Target: "others"},
				{Op: "sysctl-read", Name: "kern.procargs2.1"}, {Op: "sysctl-read", Name: "kern.proc.all"}, {Op: "sysctl-write", Name: "kern.hostname"}, {Op: "ipc-sysv*"},
				{Op: "nvram*"}, {Op: "fs-snapshot-mount"}, {Op: "file-mount", Path: "/x"}, {Op: "file-mknod", Path: "/x"}, {Op: "job-creation"}, {Op: "lsopen"}, {Op: "appleevent-send"}, {Op: "iokit-open"},
				dev("file-write-data", "/dev/disk0"), dev("file-read-data", "/dev/disk0"), dev("file-read-data", "/dev/ttys003"), dev("file-read-data", "/dev/bpf0"), dev("file-read-data", "/dev/cu.usb"), dev("file-write-create", "/dev/null"), tty(tiocgeta), service("com.apple.SecurityServer"), service("com.apple.trustd.agent"),
				service("com.apple.dnssd.service"), service("com.apple.coreservices.launchservicesd"), service("com.apple.cfprefsd.agent"), {Op: "pseudo-tty"}}},
		"a terminal": {golden{Terminal: true},
			[]sbpltest.Query{tty(tiocgeta), {Op: "file-ioctl", Path: "/dev/tty", Ioctl: tiocgeta}},
			[]sbpltest.Query{tty(inject), {Op: "file-ioctl", Path: "/dev/tty", Ioctl: inject}, {Op: "file-write-data", Path: "/dev/ttys003", Vnode: sbpltest.CharDev}, {Op: "file-ioctl", Path: "/dev/disk0"}}},
		"terminals of its own": {golden{Process: wire.ProcPolicy{AllowPty: true}},
			[]sbpltest.Query{{Op: "pseudo-tty"}, dev("file-write-data", "/dev/ptmx"), {Op: "file-write-data", Path: "/dev/ttys009", Vnode: sbpltest.CharDev, Pty: true}, tty(tiocgeta)},
			[]sbpltest.Query{dev("file-write-data", "/dev/ttys003"), tty(inject)}},
		"the whole disk writable": {golden{AllowWrite: []string{"/"}, DenyWrite: []string{"/etc2"}}, []sbpltest.Query{{Op: "file-write-create", Path: "/x"}, dev("file-write-data", "/dev/null")},
			[]sbpltest.Query{dev("file-write-data", "/dev/disk0"), dev("file-write-create", "/dev/x"), {Op: "file-write-create", Path: "/ETC2/x"}}},
		"trust": {golden{Network: wire.NetPolicy{WeakerIsolation: true}}, []sbpltest.Query{service("com.apple.trustd.agent")},
			[]sbpltest.Query{service("com.apple.dnssd.service"), service("com.apple.SecurityServer")}},
		"Apple events": {golden{Process: wire.ProcPolicy{AllowAppleEvents: true}},
			[]sbpltest.Query{{Op: "appleevent-send"}, {Op: "lsopen"}, service("com.apple.coreservices.appleevents")}, []sbpltest.Query{service("com.apple.SecurityServer")}},
		"services of the settings": {golden{Process: wire.ProcPolicy{AllowMachLookup: []string{"com.apple.fonts", "com.apple.audio.*"}}},
			[]sbpltest.Query{service("com.apple.fonts"), service("com.apple.audio.x")}, []sbpltest.Query{service("com.apple.fontsx"), service("com.apple.audi")}},
	} {
		t.Run(name, func(t *testing.T) {
			j, _, _ := build(t, c.g)
			for _, q := range c.yes {
				answers(t, j, q, true)
			}
			for _, q := range c.no {
				answers(t, j, q, false)
			}
		})
	}
}

// TestTmpDir: the run's own directory works wherever it lies; protected names hold in it too, because a directory could be moved there
// and back.
func TestTmpDir(t *testing.T) {
	j, _, fs := build(t, golden{DenyRead: []string{"/private/var"}, DenyWrite: []string{"/private/var/folders"}, AllowWrite: []string{"/Users/u/p"},
		Protected: "all", TmpDir: "/private/var/folders/T/srt-1"}, "/private/var/folders/T/srt-1/", "/private/var/folders/T/other")
	for _, o := range sbpltest.Orders() {
		m := sbpltest.Machine{Profile: j, Order: o, FS: fs}
		for _, op := range []pathrule.Op{pathrule.OpCreate, pathrule.OpMkdir, pathrule.OpSymlink} {
			if err := m.Do(op, "/private/var/folders/T/srt-1/a"); err != nil {
				t.Errorf("%v: %v", op, err)
			}
		}
		for _, q := range []question{{pathrule.OpCreate, "/private/var/folders/T/srt-1/.bashrc", ""}, {pathrule.OpMkdir, "/private/var/folders/T/srt-1/.git", ""},
			{pathrule.OpRemove, "/private/var/folders/T/srt-1", ""}, {pathrule.OpRead, "/private/var/folders/T/other", ""}, {pathrule.OpCreate, "/private/var/folders/T/x", ""}} {
			if m.Do(q.op, q.from) == nil {
				t.Errorf("%v is allowed", q)
			}
		}
		if err := m.Do(pathrule.OpStat, "/private/var/folders/T"); err != nil {
			t.Errorf("on the way there: %v", err)
		}
	}
}

// TestClones: a clone of a hidden file is a readable copy, and a clone of a directory asks for none of the files in it.
func TestClones(t *testing.T) {
	j, _, fs := build(t, golden{DenyRead: []string{"/Users/u/p/s"}, AllowWrite: []string{"/Users/u/p"}}, "/Users/u/p/s", "/Users/u/p/f", "/Users/u/p/d/s")
	for _, o := range sbpltest.Orders() {
		m := sbpltest.Machine{Profile: j, Order: o, FS: fs}
		if err := m.Clone("/Users/u/p/f", "/Users/u/p/g"); err != nil {
			t.Errorf("%v: a file: %v", o, err)
		}
		for _, from := range []string{"/Users/u/p/s", "/Users/u/p/d"} {
			if m.Clone(from, "/Users/u/p/g") == nil {
				t.Errorf("%v: %s can be cloned", o, from)
			}
		}
	}
}
