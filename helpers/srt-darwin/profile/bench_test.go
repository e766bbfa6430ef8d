package profile

import (
	"fmt"
	"testing"

	"github.com/srt-dev/srt/core/pathrule/memfs"
)

// BenchmarkGenerate measures the everyday policy and one with 3,000 paths.
func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{0, 3000} {
		b.Run(fmt.Sprintf("%d paths", n), func(b *testing.B) {
			g := golden{AllowWrite: []string{"/Users/u/p"}, DenyRead: []string{"/Users/u/.ssh", "glob:/Users/u/p/**/.env"}, Protected: "all", GitRules: true}
			for i := range n {
				g.DenyWrite = append(g.DenyWrite, fmt.Sprintf("/Users/u/p/packages/module-%02d/generated/file-%04d.json", i%40, i))
			}
			spec, err := g.spec(memfs.New("/Users/u/p/.git/HEAD", "/Users/u/p/.git/objects/", "/Users/u/p/.git/refs/", "/Users/u/.ssh/"))
			if err != nil {
				b.Fatal(err)
			}
			size := 0
			for b.Loop() {
				p, err := Generate(spec)
				if err != nil {
					b.Fatal(err)
				}
				size = len(p.Text)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
