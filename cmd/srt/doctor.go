package main

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// doctor asks the helper to try every protection on this machine and prints what holds. The exit status is 0 when nothing fails.
func doctor(args []string) int {
	asJSON := false
	for _, a := range args {
		if a != "--json" {
			return fail(&usageError{"srt doctor takes no " + strconv.Quote(a), "srt doctor [--json]"})
		}
		asJSON = true
	}
	p, err := findPrograms()
	if err != nil {
		return fail(err)
	}
	home, err := homeDir()
	if err != nil {
		return fail(err)
	}
	h := &oneshot.Helper{Path: p.helper}
	report, err := h.Check(context.Background(), wire.CheckRequest{Version: wire.Version, Host: wire.HostContext{Home: home}})
	if err != nil {
		return fail(err)
	}
	if asJSON {
		text, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return fail(err)
		}
		show(string(text) + "\n")
	} else {
		show(checkText(report))
	}
	for _, item := range report.Items {
		if item.State != wire.CheckPass && item.State != wire.CheckWeak {
			return exitDoctor
		}
	}
	return 0
}

func checkText(report wire.CheckReport) string {
	var b strings.Builder
	for _, item := range report.Items {
		line := item.State + " " + item.Name
		if item.Detail != "" {
			line += ": " + item.Detail
		}
		b.WriteString(printable(line) + "\n")
		if item.Fix != "" && item.State != wire.CheckPass {
			b.WriteString(printable("     fix: "+item.Fix) + "\n")
		}
	}
	return b.String()
}
