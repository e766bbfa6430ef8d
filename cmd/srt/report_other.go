//go:build !linux && !darwin

package main

import "github.com/srt-dev/srt/core/wire"

// reportFile cannot exist here yet, as no command can run.
type reportFile struct{}

func openReport(path string) (*reportFile, error) {
	return nil, &wire.Fault{Code: wire.CodeUnsupported, Op: "open report", Path: path, Detail: "there are no reports on this operating system"}
}

func (r *reportFile) write([]byte) {}

func (r *reportFile) close() error { return nil }
