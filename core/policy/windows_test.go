package policy

import (
	"slices"
	"testing"

	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// TestWindowsInstallation: what the settings say about it reaches the helper on Windows, and nothing of it matters elsewhere.
func TestWindowsInstallation(t *testing.T) {
	usual := wire.WindowsHost{ProxyPortLow: 60080, ProxyPortHigh: 60089}
	for name, c := range map[string]struct {
		file string
		want wire.WindowsHost
	}{
		"nothing said":     {`{}`, usual},
		"everything":       {`{"windows": {"backend": "srt-win", "sandboxUser": "Bau box", "sublayerGuid": "6C3CE732-08c8-4a59-873c-0b14920faa77", "proxyPortRange": [60100, 60163]}}`, wire.WindowsHost{SandboxUser: "Bau box", Sublayer: "6c3ce732-08c8-4a59-873c-0b14920faa77", ProxyPortLow: 60100, ProxyPortHigh: 60163}},
		"the old name":     {`{"windows": {"wfpSublayerGuid": "6c3ce732-08c8-4a59-873c-0b14920faa77"}}`, wire.WindowsHost{Sublayer: "6c3ce732-08c8-4a59-873c-0b14920faa77", ProxyPortLow: 60080, ProxyPortHigh: 60089}},
		"both names agree": {`{"windows": {"wfpSublayerGuid": "6c3ce732-08c8-4a59-873c-0b14920faa77", "sublayerGuid": "6C3CE732-08C8-4A59-873C-0B14920FAA77"}}`, wire.WindowsHost{Sublayer: "6c3ce732-08c8-4a59-873c-0b14920faa77", ProxyPortLow: 60080, ProxyPortHigh: 60089}},
	} {
		f, err := settings.ParseLine([]byte(c.file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, err := Resolve(f, Context{GOOS: "windows", Home: `C:\Users\u`, Dir: `C:\work`})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := p.LaunchRequest(wire.Command{}, LaunchOptions{}).Host.Windows; got == nil || *got != c.want {
			t.Errorf("%s: the helper gets %+v, want %+v", name, got, c.want)
		}
		if low, high := p.ProxyPorts(); low != c.want.ProxyPortLow || high != c.want.ProxyPortHigh {
			t.Errorf("%s: ports %d-%d", name, low, high)
		}
	}
	f, err := settings.ParseLine([]byte(`{"windows": {"sandboxUser": "another sandbox's", "sublayerGuid": "x", "proxyPortRange": [8080, 8144]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, goos := range []string{"linux", "darwin"} {
		p, err := Resolve(f, Context{GOOS: goos, Home: "/h", Dir: "/w"})
		if err != nil {
			t.Fatalf("%s: %v", goos, err)
		}
		if p.LaunchRequest(wire.Command{}, LaunchOptions{}).Host.Windows != nil {
			t.Errorf("%s: the helper hears of Windows", goos)
		}
		want := []string{"windows has no effect here", "windows.sandboxUser has no effect here", "windows.sublayerGuid has no effect here", "windows.proxyPortRange has no effect here"}
		if got := p.Notes(); !slices.Equal(got, want) {
			t.Errorf("%s: notes %q", goos, got)
		}
	}
}
