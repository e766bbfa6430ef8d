// Command srt-linux-rpc is the Linux helper for those who ask more than one question: `check` answers `srt doctor` on an inherited
// descriptor. It plans like srt-linux and starts srt-linux, which lies beside it, as the init.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/helpers/srt-linux/check"
	"github.com/srt-dev/srt/helpers/srt-linux/plan"
)

// commit is set by the build.
var commit = "unknown"

func main() {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(os.Stderr, "srt: error: %v\n", err)
		os.Exit(125)
	}
	h := check.Helper{Helper: plan.Helper{Build: commit, Self: strings.TrimSuffix(self, "-rpc")}}
	if len(os.Args) == 2 && os.Args[1] == oneshot.VerbCheck {
		if oneshot.ServeFD(oneshot.RequestFD, h, oneshot.VerbCheck) != nil {
			os.Exit(125)
		}
		return
	}
	fmt.Fprintln(os.Stderr, "srt-linux-rpc is started by srt; run srt doctor")
	os.Exit(125)
}
