package run

import (
	"testing"

	"github.com/srt-dev/srt/helpers/srt-windows/winapi/fake"
)

// TestSchannelIsBlamed: where srt can know that the TLS of Windows has failed, it says so, beside the command's own status.
func TestSchannelIsBlamed(t *testing.T) {
	l := newLab(t)
	l.w.WriteFile(`C:\Windows\System32\curl.exe`)
	l.command = func(*fake.Proc) uint32 { return 35 }
	r := request()
	for curl, blamed := range map[string]bool{"curl": true, "make": false} {
		r.Command.Argv = []string{curl, "https://example.com"}
		within(t, func() {
			res, err := Command(l.m, r, streams())
			if err != nil || res.Code != 35 || (res.Blame != nil) != blamed {
				t.Errorf("%s: %+v, %v", curl, res, err)
			}
			const want = `run "C:\\Windows\\System32\\curl.exe": it ended with status 35, and the TLS of Windows (Schannel) gives no credentials to a restricted token`
			if blamed && res.Blame.Error() != want {
				t.Errorf("got %v", res.Blame)
			}
		})
	}
}
