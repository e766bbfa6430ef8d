package settings

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestTableOfKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		if seen[k.Path] {
			t.Errorf("%s is there twice", k.Path)
		}
		seen[k.Path] = true
		if k.Doc == "" {
			t.Errorf("%s has no documentation", k.Path)
		}
		if i := strings.LastIndexByte(k.Path, '.'); i > 0 && !seen[k.Path[:i]] {
			t.Errorf("%s comes before its section", k.Path)
		}
		for _, os := range strings.Fields(k.OS) {
			if os != "linux" && os != "darwin" && os != "windows" {
				t.Errorf("%s works on %q", k.Path, os)
			}
		}
		if refused := k.Use == Later || k.Use == Never; refused != (k.Form() == "refused by this version") {
			t.Errorf("%s: form %q", k.Path, k.Form())
		}
		if k.Form() == "another value" {
			t.Errorf("%s has a type without a form", k.Path)
		}
	}
	for _, known := range strings.Fields(`network.allowedDomains network.deniedDomains network.deniedDomainReasons network.strictAllowlist
		network.deniedResolvedAddresses network.allowUnixSockets network.allowAllUnixSockets network.allowLocalBinding network.allowMachLookup
		network.httpProxyPort network.socksProxyPort network.mitmProxy network.parentProxy network.tlsTerminate network.allowPlaintextHeaderSet
		network.stripResponseHeaders network.refuseOpaqueTunnels network.requireHostMatch network.ambiguousRequestTarget
		filesystem.denyRead filesystem.allowRead filesystem.allowWrite filesystem.denyWrite filesystem.allowGitConfig filesystem.allowProtected
		filesystem.disabled ignoreViolations mandatoryDenySearchDepth enableWeakerNestedSandbox allowNestedUserNamespaces
		enableWeakerNetworkIsolation allowAppleEvents allowPty bwrapPath seccomp ripgrep socatPath javaAgentJarPath git.safeDirectories
		windows credentials.files credentials.envVars credentials.awsPairs credentials.sigv4 credentials.allowPlaintextInject`) {
		if !seen[known] {
			t.Errorf("%s is not in the table", known)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"allowRead", "allowWrite", "denyRead", "denyWrite", "disabled"}
	for word, want := range map[string]string{
		"allowread":  "allowRead",
		"AllowWrite": "allowWrite",
		"alowWrite":  "allowWrite",
		"denyRaed":   "denyRead",
		"disable":    "disabled",
		"x":          "",
		"":           "",
		"readonly":   "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := Nearest(strings.Repeat("a", 1e6), names); got != "" {
		t.Errorf("a long word: got %q", got)
	}
}

// jsonASCII and jsonRaw write s as JSON with escapes alone and with as few as possible.
func jsonASCII(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteString(`\u` + strconv.FormatUint(0x10000+uint64(u), 16)[1:])
	}
	return b.String() + `"`
}

func jsonRaw(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\t", `\t`).Replace(s) + `"`
}
