package main

import (
	"strconv"

	"github.com/srt-dev/srt/core/launch"
	"github.com/srt-dev/srt/core/wire"
)

// runCommand runs the command and gives srt's exit status.
func runCommand(o *options) int {
	for _, fd := range o.passFDs {
		if !isOpen(fd) {
			return fail(&usageError{"descriptor " + strconv.Itoa(fd) + " of --pass-fd is not open", ""})
		}
	}
	p, err := findPrograms()
	if err != nil {
		return fail(err)
	}
	pass := make(map[int]int, len(o.passFDs))
	for _, fd := range o.passFDs {
		pass[fd] = fd
	}
	hooks := launch.Hooks{
		Plan:   func(plan wire.LaunchPlan) { showPlanWarnings(o, plan) },
		Notice: say,
	}
	// The helper starts while the settings are read: it does nothing before it has its request.
	r, err := launch.Begin(launch.Options{Helper: p.helper, Proxy: p.proxy, PassFDs: pass, Hooks: hooks})
	if err != nil {
		return fail(err)
	}
	j, err := prepare(o, p)
	if err != nil {
		r.Cancel()
		return fail(err)
	}
	announce(j)
	out := r.Wait(j.request(r.Terminal()), j.proxyConfig())
	if out.Fault != nil {
		return fail(out.Fault)
	}
	return exitStatus(out)
}

// announce says what is run when a person looks on, and what the settings do not do here.
func announce(j *job) {
	for _, w := range j.policy.Warnings() {
		say("warning: " + w)
	}
	if j.o.debug {
		for _, n := range j.policy.Notes() {
			say("debug: " + n)
		}
	}
	if isTerminal(2) {
		print2("Running: " + j.text)
	}
}

func showPlanWarnings(o *options, plan wire.LaunchPlan) {
	for _, w := range plan.Warnings {
		say("warning: " + w)
	}
	if !o.debug {
		return
	}
	say("debug: limits: " + plan.Mode)
	for _, n := range plan.Notes {
		say("debug: " + n)
	}
}
