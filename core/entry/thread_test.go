package entry

import "testing"

func TestThreadSurvivesTheCommandLine(t *testing.T) {
	for _, want := range []Thread{{}, {Slack: 1}, {Mask: 1<<63 | 0x4007, Slack: 50_000}} {
		if got, err := ParseThread(want.String()); got != want || err != nil {
			t.Errorf("%v became %v, %v", want, got, err)
		}
	}
}

func TestThreadRefusesWhatSrtDoesNotSay(t *testing.T) {
	for _, s := range []string{"", "0", "/", "0/", "0/-1", "x/1", "1/1/1", "10000000000000000/1", "0/99999999999999999999"} {
		if got, err := ParseThread(s); err == nil {
			t.Errorf("%q gave %v", s, got)
		}
	}
}
