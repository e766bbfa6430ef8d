//go:build !darwin

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/srt-dev/srt/core/wire"
)

func (helper) Describe(context.Context) (wire.Description, error) { return describe(), nil }

func (helper) Prepare(context.Context, wire.LaunchRequest) (wire.LaunchPlan, error) {
	return wire.LaunchPlan{}, unsupported()
}

func (helper) Check(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	return wire.CheckReport{}, unsupported()
}

func runHere(verb string, _ []string) int {
	if verb == "prove" || verb == wire.VerbWatch || verb == wire.VerbGuard {
		fmt.Fprintf(os.Stderr, "srt: error: %v\n", unsupported())
		return statusFailed
	}
	return usage()
}

// unsupported is the answer on a system without Seatbelt.
func unsupported() error {
	f := &wire.Fault{Code: wire.CodeUnsupported, Op: "use Seatbelt", Detail: "srt-darwin runs on macOS only, this is " + runtime.GOOS}
	return fmt.Errorf("%w (%w)", f, errors.ErrUnsupported)
}
