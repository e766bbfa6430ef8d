package quote

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var hostile = Hostile()

func TestArgvRoundTrip(t *testing.T) {
	if len(hostile) < 100 {
		t.Fatalf("%d vectors", len(hostile))
	}
	for _, words := range hostile {
		argv := append([]string{`C:\Program Files\x y\p.exe`}, words...)
		line, err := Argv(argv)
		if err != nil {
			t.Fatalf("%q: %v", argv, err)
		}
		if got := split(line); !slices.Equal(got, argv) {
			t.Errorf("%q became %q by the line %s", argv, got, line)
		}
	}
}

func TestArgvForms(t *testing.T) {
	for name, c := range map[string]struct {
		argv []string
		want string
	}{
		"plain words stay plain":        {[]string{"p.exe", "-a", "b=c", `C:\x`}, `"p.exe" -a b=c C:\x`},
		"a space":                       {[]string{"p", "a b"}, `"p" "a b"`},
		"a quote":                       {[]string{"p", `a"b`}, `"p" "a\"b"`},
		"backslashes before the end":    {[]string{"p", `a b\\`}, `"p" "a b\\\\"`},
		"backslashes elsewhere":         {[]string{"p", `a\\b c`}, `"p" "a\\b c"`},
		"an empty word":                 {[]string{"p", ""}, `"p" ""`},
		"backslash at the end of plain": {[]string{"p", `a\`}, `"p" a\`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Argv(c.argv); got != c.want || err != nil {
				t.Fatalf("got %s, %v", got, err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	batch := func(file string, args ...string) func() (string, error) {
		return func() (string, error) { return Batch(`C:\Windows\System32\cmd.exe`, file, args) }
	}
	for name, c := range map[string]struct {
		do   func() (string, error)
		text string
	}{
		"no words":                      {func() (string, error) { return Argv(nil) }, "command line: no words"},
		"a NUL":                         {func() (string, error) { return Argv([]string{"p", "a\x00b"}) }, `command line: "a\x00b" holds a NUL`},
		"broken UTF-8":                  {func() (string, error) { return Argv([]string{"p", "\xff"}) }, `command line: "\xff" is not valid UTF-8`},
		"a quote in the program":        {func() (string, error) { return Argv([]string{`a"b`}) }, `command line: "a\"b" cannot be the name of a program`},
		"no program":                    {func() (string, error) { return Argv([]string{"", "a"}) }, `command line: "" cannot be the name of a program`},
		"too long":                      {func() (string, error) { return Argv([]string{"p", strings.Repeat("🙂", 16382)}) }, "command line: 32768 characters, Windows takes 32766"},
		"two lines for cmd":             {func() (string, error) { return Cmd("cmd.exe", "a\nb") }, "command line: cmd.exe runs only the first line of several; write them into a .cmd file, or join them with &"},
		"nothing for cmd":               {func() (string, error) { return Cmd("cmd.exe", " ") }, "command line: nothing for cmd.exe to run"},
		"a line end for a batch file":   {batch(`C:\a.bat`, "x\r\ncalc"), `command line: "x\r\ncalc" holds a line end, which ends a batch file's line`},
		"a batch file with a percent":   {batch(`C:\%x%.bat`), `command line: "C:\\%x%.bat" cannot be the name of a batch file here`},
		"a batch file that is a folder": {batch(`C:\a\`), `command line: "C:\\a\\" cannot be the name of a batch file here`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := c.do(); got != "" || err == nil || err.Error() != c.text {
				t.Fatalf("got %q, %v", got, err)
			}
		})
	}
}

func TestCmd(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"plain":               {"dir", `"C:\cmd.exe" /d /s /v:off /c "dir"`},
		"quotes stay":         {`echo "a b" & dir`, `"C:\cmd.exe" /d /s /v:off /c "echo "a b" & dir"`},
		"an unbalanced quote": {`echo "`, `"C:\cmd.exe" /d /s /v:off /c "echo ""`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Cmd(`C:\cmd.exe`, c.line); got != c.want || err != nil {
				t.Fatalf("got %s, %v", got, err)
			}
		})
	}
}

// safeForBatch says that nothing of the arguments is outside quotes where cmd.exe acts on it, and no percent sign can pair with another.
func safeForBatch(line string) bool {
	if strings.ContainsAny(cmdOutside(line), "&|<>^()!\r\n;,=\t") {
		return false
	}
	left := strings.ReplaceAll(line, "%%cd:~,%", "") // each sign of an argument stands in exactly this company
	return !strings.Contains(left, "%")
}

func TestBatch(t *testing.T) {
	for _, words := range hostile {
		line, err := Batch(`C:\Windows\System32\cmd.exe`, `C:\a b\x.cmd`, words)
		if slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "\r\n") }) {
			if err == nil {
				t.Errorf("%q was not refused", words)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !safeForBatch(line) {
			t.Errorf("%q is not safe: %s", words, line)
		}
	}
	got, err := Batch(`C:\cmd.exe`, `C:\x.bat`, []string{`a`, `b c`, `"&calc`, `%PATH%`, `d\`})
	want := `"C:\cmd.exe" /d /e:on /v:off /s /c ""C:\x.bat" a "b c" """&calc" "%%cd:~,%PATH%%cd:~,%" "d\\""`
	if got != want || err != nil {
		t.Errorf("got  %s\nwant %s (%v)", got, want, err)
	}
}

func FuzzArgv(f *testing.F) {
	for _, v := range hostile {
		f.Add(strings.Join(v, "\x01"))
	}
	f.Fuzz(func(t *testing.T, in string) {
		words := strings.Split(in, "\x01")
		argv := append([]string{"p.exe"}, words...)
		line, err := Argv(argv)
		if err != nil {
			if utf8.ValidString(in) && !strings.Contains(in, "\x00") && len(in) < MaxLine/4 {
				t.Fatalf("%q refused: %v", argv, err)
			}
			return
		}
		if got := split(line); !slices.Equal(got, argv) {
			t.Fatalf("%q became %q by %s", argv, got, line)
		}
		if line, err := Batch("cmd.exe", `C:\x.bat`, words); err == nil && !safeForBatch(line) {
			t.Fatalf("not safe for a batch file: %s", line)
		}
	})
}
