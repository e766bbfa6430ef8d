package sandbox

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
)

// BenchmarkNextCommand runs /bin/true in a session and in bare bwrap in turns and reports the medians, of the ratio and of both. ci/bench reads
// them.
func BenchmarkNextCommand(b *testing.B) {
	bwrap := srttest.RequireBwrap(b)
	m := manager(b, Config{})
	var ratios, ours, floor []float64
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
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
		next := time.Since(start)
		ratios, ours, floor = append(ratios, float64(next)/float64(bare)), append(ours, ms(next)), append(floor, ms(bare))
	}
	for unit, v := range map[string][]float64{"x-bwrap": ratios, "srt-ms": ours, "bwrap-ms": floor} {
		slices.Sort(v)
		b.ReportMetric(v[len(v)/2], unit)
	}
}
