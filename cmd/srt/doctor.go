package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// doctor asks the helper to try every protection on this machine and prints what holds. The exit status is 0 when nothing fails.
func doctor(args []string) int {
	asJSON, prove := false, false
	for _, a := range args {
		switch a {
		case "--json":
			asJSON = true
		case "--prove":
			prove = true
		default:
			return fail(&usageError{"srt doctor takes no " + strconv.Quote(a), "srt doctor [--json | --prove]"})
		}
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
	switch {
	case prove && !asJSON:
		who, err := h.Describe(context.Background())
		if err != nil {
			return fail(err)
		}
		show(transcript(who, report))
	case asJSON:
		text, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return fail(err)
		}
		show(string(text) + "\n")
	default:
		show(checkText(report))
	}
	if !holds(report) {
		return exitDoctor
	}
	return 0
}

func holds(report wire.CheckReport) bool {
	return !slices.ContainsFunc(report.Items, func(i wire.CheckItem) bool { return i.State != wire.CheckPass && i.State != wire.CheckWeak })
}

// transcript can be attached to a report: it says what was tried, by what and where.
func transcript(who wire.Description, report wire.CheckReport) string {
	weak := 0
	for _, item := range report.Items {
		if item.State == wire.CheckWeak {
			weak++
		}
	}
	verdict := fmt.Sprintf("everything holds, %d of %d weak\n", weak, len(report.Items))
	if !holds(report) {
		verdict = "srt does not hold here what it promises: please report this with the whole output\n"
	}
	head := fmt.Sprintf("srt doctor --prove: %s %s on %s/%s", who.Name, who.Build, who.OS, who.Arch)
	return printable(head) + "\n" + checkText(report) + verdict
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
