package main

import "fmt"

// A budget is what a line of the report may cost: at most or at least a ratio to its floor, at most a value, or at most so much more than its
// floor. 0: no such limit.
type budget struct {
	name, floor             string
	most, least             float64 // × the floor
	mostMeasured, mostAdded float64 // in the line's unit
}

// budgets of the design.
var budgets = []budget{
	{name: "`srt true`, default settings", floor: "raw bwrap", most: 4.2},
	{name: "`srt true`, default settings, processor", floor: "raw bwrap", mostMeasured: 60},
	{name: "memory of the whole tree, default settings", floor: "raw bwrap", mostMeasured: 20},
	{name: "the command's exit to srt's", floor: "raw bwrap", mostMeasured: 10},
	{name: "50 `srt true` at once", floor: "raw bwrap", most: 4},
	{name: "next command of a session", floor: "raw bwrap", most: 3.2},
	{name: "untar of 20,000 tiny files", floor: "no supervisor", most: 5.7},
	{name: "git clone of 2,000 files", floor: "no supervisor", most: 2.5},
	{name: "npm install of 20 local packages", floor: "no supervisor", most: 1.1},
	{name: "go build of 40 packages", floor: "no supervisor", most: 1.1},
	{name: "git status in 2,000 files, 100 times", floor: "raw bwrap", most: 1.1},
	{name: "find in 20,000 files, 40 times", floor: "raw bwrap", most: 1.1},
	{name: "`srt true` in a tree of 100,000 files with 50 repositories", floor: "raw bwrap", most: 4},
	{name: "`srt true` with 1,000 denied paths", floor: "raw bwrap", most: 4},
	{name: "`srt true` with 3,000 denied paths", floor: "raw bwrap", most: 7},
	{name: "new CONNECT tunnels, 1 at once", floor: "direct", least: 0.4},
	{name: "new CONNECT tunnels, 64 at once", floor: "direct", least: 0.4},
	{name: "HTTP keep-alive requests, 1 at once", floor: "direct", least: 0.35},
	{name: "HTTP keep-alive requests, 64 at once", floor: "direct", least: 0.25},
	{name: "HTTP keep-alive request, 10,000 domains allowed", floor: "three domains", mostAdded: 50},
	{name: "bulk through CONNECT", floor: "one splice relay", least: 0.9},
	{name: "1,000 idle tunnels, memory", floor: "one tunnel", mostMeasured: 40},
}

// verdict says what a line's budget is and whether it is met; "" for a line without one.
func verdict(s *series) string {
	for _, b := range budgets {
		if b.name != s.name || b.floor != s.floor {
			continue
		}
		ratio := median(s.ratios)
		switch {
		case b.most > 0:
			return met(fmt.Sprintf("≤ %g ×", b.most), ratio <= b.most)
		case b.least > 0:
			return met(fmt.Sprintf("≥ %g ×", b.least), ratio >= b.least)
		case b.mostAdded > 0:
			return met("≤ +"+number(b.mostAdded, s.unit), median(s.ours)-median(s.floors) <= b.mostAdded)
		}
		return met("≤ "+number(b.mostMeasured, s.unit), median(s.ours) <= b.mostMeasured)
	}
	return ""
}

func met(budget string, ok bool) string {
	if ok {
		return budget
	}
	return budget + " **missed**"
}
