package main

import (
	"context"
	"encoding/json"

	"github.com/srt-dev/srt/core/launch"
	"github.com/srt-dev/srt/core/oneshot"
)

// dryRun prints the plan by the same path as a run, and runs nothing.
func dryRun(o *options) int {
	p, err := findPrograms()
	if err != nil {
		return fail(err)
	}
	j, err := prepare(o, p)
	if err != nil {
		return fail(err)
	}
	announce(j)
	place, err := launch.NewPlace(j.terms())
	if err != nil {
		return fail(err)
	}
	defer place.Close()
	h := &oneshot.Helper{Path: p.helper}
	plan, err := h.Prepare(context.Background(), j.request(place, false, false))
	if err != nil {
		return fail(err)
	}
	for _, w := range plan.Warnings {
		say("warning: " + w)
	}
	text, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		return fail(err)
	}
	return show(string(text) + "\n")
}
