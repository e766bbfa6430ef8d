//go:build amd64 || arm64

package rules

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The numbers against those of golang.org/x/sys for the machine that runs the test: the calls that every architecture has.
func TestNumbersAreTheKernels(t *testing.T) {
	native := map[string]Arch{"amd64": AMD64, "arm64": ARM64}[goarch]
	if native.Audit != audit {
		t.Errorf("audit architecture %#x, want %#x", native.Audit, audit)
	}
	for name, want := range kernelNumbers {
		c, ok := CallByName(name)
		if !ok {
			t.Errorf("%s is not in the table of numbers", name)
			continue
		}
		if got, ok := c.Number(native); !ok || got != want {
			t.Errorf("%s: number %d, %t, want %d", name, got, ok, want)
		}
	}
	for _, c := range Calls {
		if _, ok := c.Number(native); ok {
			if _, named := kernelNumbers[c.Name]; !named {
				t.Errorf("%s is not checked here", c.Name)
			}
		}
	}
	if LastReviewed != unix.SYS_RSEQ_SLICE_YIELD {
		t.Errorf("LastReviewed is %d, want that of rseq_slice_yield", LastReviewed)
	}
}
