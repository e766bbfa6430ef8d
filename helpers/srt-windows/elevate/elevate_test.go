package elevate

import (
	"errors"
	"runtime"
	"testing"
)

func TestParameters(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		want  string
		err   string
	}{
		"install":           {[]string{"install", "--proxy-port-range", "60000-60001"}, `install --proxy-port-range 60000-60001 --elevated --for S-1-5-21-1-2-3-1001`, ""},
		"install for other": {[]string{"install", "--for", "S-1-5-21-1-2-3-5"}, `install --for S-1-5-21-1-2-3-5 --elevated`, ""},
		"a hostile word":    {[]string{"install", "--sandbox-user", `a" & calc`}, `install --sandbox-user "a\" & calc" --elevated --for S-1-5-21-1-2-3-1001`, ""},
		"uninstall":         {[]string{"uninstall"}, `uninstall --elevated`, ""},
		"exec is never run": {[]string{"exec"}, "", `elevate ["exec"]: only [install uninstall] are ever run as an administrator`},
		"nothing":           {nil, "", `elevate []: only [install uninstall] are ever run as an administrator`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parameters(c.words, "S-1-5-21-1-2-3-1001")
			if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Fatalf("got %q, %v", got, err)
			}
		})
	}
}

func TestOtherSystems(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("asks a person")
	}
	if _, err := Run("x", ""); !errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("got %v", err)
	}
}
