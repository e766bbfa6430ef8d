package sandbox

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
)

// BenchmarkNextCommand runs /bin/true in a session and in bare bwrap in turns and reports the median ratio.
func BenchmarkNextCommand(b *testing.B) {
	bwrap := srttest.RequireBwrap(b)
	m := manager(b, Config{})
	var ratios []float64
	for b.Loop() {
		start := time.Now()
		if err := exec.Command(bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid", "/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
		bare := time.Since(start)
		start = time.Now()
		if err := m.Command(b.Context(), "/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
		ratios = append(ratios, float64(time.Since(start))/float64(bare))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-bwrap")
}
