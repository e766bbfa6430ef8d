package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := write("good.json", `{"allowPty": true}`)
	f, err := Load(good)
	if err != nil || !f.AllowPty || f.Source() != good {
		t.Fatalf("Load(good) = %+v, %v", f, err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(link); err != nil || f.Source() != link {
		t.Fatalf("Load(link) = %+v, %v", f, err)
	}

	for name, c := range map[string]struct{ path, want string }{
		"missing":                      {filepath.Join(dir, "none.json"), `none.json: open the settings file: no such file or directory; name a readable file with --settings`},
		"a directory":                  {dir, `: read the settings file: it is a directory; name a readable file with --settings`},
		"empty":                        {write("empty.json", ""), `empty.json: the settings are empty; write {} for the defaults`},
		"below a file":                 {filepath.Join(good, "x"), `x: open the settings file: not a directory; name a readable file with --settings`},
		"endless":                      {"/dev/zero", `/dev/zero: the settings are larger than 4 MiB; shorten the lists with wildcards`},
		"a byte too much":              {write("big.json", `{"bwrapPath": "`+strings.Repeat("x", MaxBytes)+`"}`), `big.json: the settings are larger than 4 MiB; shorten the lists with wildcards`},
		"a name with a line end in it": {filepath.Join(dir, "a\nb"), `a\nb: open the settings file: no such file or directory; name a readable file with --settings`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(c.path)
			var e *Error
			if !errors.As(err, &e) || !strings.HasSuffix(err.Error(), c.want) || e.File != c.path {
				t.Errorf("got %v, want …%s", err, c.want)
			}
		})
	}
}

func TestLoadTakesWhatJustFits(t *testing.T) {
	p := filepath.Join(t.TempDir(), "s.json")
	const frame = `{"bwrapPath": ""}`
	text := `{"bwrapPath": "` + strings.Repeat("x", MaxBytes-len(frame)) + `"}`
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(p); err != nil || len(f.BwrapPath) != MaxBytes-len(frame) {
		t.Fatalf("%v", err)
	}
}

func TestLoadUnreadable(t *testing.T) {
	srttest.RequireOrdinaryUser(t) // root reads everything
	p := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(p, []byte("{}"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(p); err == nil || !strings.HasSuffix(err.Error(), "s.json: open the settings file: permission denied; name a readable file with --settings") {
		t.Errorf("got %v", err)
	}
}

func TestLoadDefault(t *testing.T) {
	home := t.TempDir()
	f, err := LoadDefault(home)
	if err != nil || f.Source() != "" || len(f.Filesystem.AllowWrite) > 0 {
		t.Fatalf("without a file: %+v, %v", f, err)
	}
	path := filepath.Join(home, DefaultName)
	if err := os.Symlink("nowhere", path); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadDefault(home); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a link that leads nowhere: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadDefault(home); err == nil || !strings.HasPrefix(err.Error(), path+":1:2: invalid JSON") {
		t.Errorf("a broken file: %v", err)
	}
	if _, err := LoadDefault(""); err == nil || err.Error() != "the home directory is not known, so neither is the settings file; set HOME or name the file with --settings" {
		t.Errorf("without a home: %v", err)
	}
}

func TestLoadPipe(t *testing.T) { // srt --settings <(generate)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		w.WriteString(`{"allow`)
		w.WriteString(`Pty": true}`)
		w.Close()
	}()
	f, err := Load("/dev/fd/" + itoa(int(r.Fd())))
	if err != nil || !f.AllowPty {
		t.Fatalf("%v", err)
	}
}

func TestBounds(t *testing.T) {
	list := func(n int) string { return `{"network": {"allowedDomains": [` + strings.Repeat(`"a.b",`, n) + `]}}` }
	for name, c := range map[string]struct{ text, want string }{
		"as many entries as may be": {list(MaxEntries - 3), ""},
		"one more":                  {list(MaxEntries - 2), "1:600020: more than 100000 entries; shorten the file"},
		"deep":                      {strings.Repeat("[", 1e6), "1:17: more than 16 levels of nesting; shorten the file"},
		"deep behind a string":      {`{"\"[": ` + strings.Repeat("[", 1e6), "1:24: more than 16 levels of nesting; shorten the file"},
		"brackets in a text":        {`{"bwrapPath": "` + strings.Repeat("[", 1e6) + `"}`, ""},
		"brackets in a comment":     {"{}//" + strings.Repeat("[", 1e6) + "\n/*" + strings.Repeat("{,", 1e6) + "*/", ""},
		"brackets behind a comment": {"/**//" + "/\n" + strings.Repeat("[", 1e6), "2:17: more than 16 levels of nesting; shorten the file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseLine([]byte(c.text))
			if c.want == "" && err != nil {
				t.Fatalf("refused: %v", err)
			}
			if c.want != "" && (err == nil || !strings.HasPrefix("s.json:"+err.Error(), "s.json:") || lineOf(err) != c.want) {
				t.Errorf("got %v, want %s", lineOf(err), c.want)
			}
		})
	}
	if _, err := ParseLine(make([]byte, MaxBytes+1)); err == nil || err.Error() != "the settings are larger than 4 MiB; shorten the lists with wildcards" {
		t.Errorf("a long line: %v", err)
	}
}

func TestErrorfFindsTheEntry(t *testing.T) {
	f, err := parse("/h/s.json", []byte("{\n \"network\": {\"deniedDomainReasons\": {\"a b\": \"x\"}, \"allowedDomains\": [\"ok.example\",\n  \"bad entry\"]}}"))
	if err != nil {
		t.Fatal(err)
	}
	for want, place := range map[string][]any{
		`/h/s.json:3:3: network.allowedDomains[1]: is bad; write better`:           {"network", "allowedDomains", 1},
		`/h/s.json:2:38: network.deniedDomainReasons["a b"]: is bad; write better`: {"network", "deniedDomainReasons", "a b"},
		`/h/s.json:2:2: network.parentProxy: is bad; write better`:                 {"network", "parentProxy"},
		`/h/s.json:1:1: git.safeDirectories[7]: is bad; write better`:              {"git", "safeDirectories", 7},
		`/h/s.json:2:51: network.allowedDomains[9]: is bad; write better`:          {"network", "allowedDomains", 9},
	} {
		if got := f.Errorf("is bad", "write better", place...).Error(); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	if got := f.Errorf("a\nb\xff", "\u202e\x1b\ufffd", "git").Error(); got != `/h/s.json:1:1: git: a\nb\xff; \u202e\x1b`+"\ufffd" {
		t.Errorf("what would deceive is shown: %q", got)
	}
	if got := new(File).Errorf("is bad", "", "git").Error(); got != "git: is bad" {
		t.Errorf("a File built in code: %s", got)
	}
}

func lineOf(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	return itoa(e.Line) + ":" + itoa(e.Col) + ": " + e.Problem + "; " + e.Hint
}
