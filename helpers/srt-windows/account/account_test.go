package account

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden is what Ensure and Enable do on a fresh machine, call by call, and the lists that guard what they made.
func TestGolden(t *testing.T) {
	w := fake.New()
	w.IsElevated = true
	n := Names{limits.User, limits.Group}
	if _, err := Ensure(w, n, "password-of-the-test"); err != nil {
		t.Fatal(err)
	}
	if err := Enable(w, n); err != nil {
		t.Fatal(err)
	}
	u, err := w.UserGet(n.User)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("The account, made on a fresh machine.\n-- calls --\n")
	for _, c := range w.Calls {
		b.WriteString(c + "\n")
	}
	users := []sd.SID{fake.Bob, fake.Alice, fake.Bob}
	fmt.Fprintf(&b, "-- account --\nflags 0x%x, %q\n%s\n-- lists --\nkey %s\nrun folder %s\n", u.Flags, u.Comment, strings.Join(limits.Rights, "\n"), KeySecurity(users), RunFolderSecurity(users))
	file := filepath.Join("testdata", "account.txtar")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != b.String() {
		t.Fatalf("differs from %s (%v); -update rewrites it\n%s", file, err, b.String())
	}
}

func TestPassword(t *testing.T) {
	one, err := NewPassword(bytes.NewReader(bytes.Repeat([]byte{7}, limits.PasswordBytes)))
	if err != nil || len(one) != 47 || !strings.HasSuffix(one, "aA1!") {
		t.Errorf("%q, %v", one, err)
	}
	if p, err := NewPassword(bytes.NewReader(make([]byte, limits.PasswordBytes-1))); p != "" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("too little randomness gave %q, %v", p, err)
	}
}

func TestOnlyTheAllowedReadTheKey(t *testing.T) {
	d := KeySecurity([]sd.SID{fake.Alice})
	box := Token(IDs{"S-1-5-21-1-2-3-1002", "S-1-5-21-1-2-3-1003"})
	for name, c := range map[string]struct {
		t    sd.Token
		mask uint32
		want bool
	}{
		"the user reads":             {sd.Token{User: fake.Alice}, limits.KeyRead, true},
		"and does not write":         {sd.Token{User: fake.Alice}, 2, false},
		"another user does not read": {sd.Token{User: fake.Bob, Groups: box.Groups}, 1, false},
		"the account does not read":  {box, 1, false},
	} {
		if got, known := sd.Check(d, c.t, c.mask, sd.KeyMapping); got != c.want || !known {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTheAccountIsNeverEnabledByEnsure(t *testing.T) {
	w := fake.New()
	w.IsElevated = true
	n := Names{"box", "boxes"}
	for range 2 {
		if _, err := Ensure(w, n, "password-of-the-test"); err != nil {
			t.Fatal(err)
		}
		if u, err := w.UserGet("box"); err != nil || u.Flags&limits.FlagDisabled == 0 {
			t.Fatalf("%+v, %v", u, err)
		}
		if err := Enable(w, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(w, n, IDs{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.UserGet("box"); !errors.Is(err, winapi.ErrUserNotFound) {
		t.Errorf("%v", err)
	}
	if err := Remove(w, n, IDs{}); err != nil {
		t.Errorf("twice: %v", err)
	}
}
