package main

import (
	"errors"
	"os"
	"strconv"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/launch"
	"github.com/srt-dev/srt/core/wire"
)

// runCommand runs the command and gives srt's exit status.
func runCommand(o *options) int {
	pass := make(map[int]int, len(o.passFDs))
	for _, fd := range o.passFDs {
		if !isOpen(fd) {
			return fail(&usageError{"descriptor " + strconv.Itoa(fd) + " of --pass-fd is not open", ""})
		}
		pass[fd] = fd
	}
	control, err := openControl(o)
	if err != nil {
		return fail(err)
	}
	p, err := findPrograms()
	if err != nil {
		return fail(inside(err))
	}
	w, err := newWatcher(o)
	if err != nil {
		return fail(err)
	}
	a := &asker{answers: map[string]bool{}}
	hooks := launch.Hooks{
		Plan:      func(plan wire.LaunchPlan) { showPlan(o, plan) },
		Violation: w.violation,
		Allowed:   w.allowed,
		Report:    w.left,
		Notice:    say,
		Ask:       a.ask,
	}
	// The helper starts while the settings are read: it does nothing before it has its request.
	r, err := launch.Begin(launch.Options{Helper: p.helper, Enter: entry.Direct(p.helper), Proxy: p.proxy, PassFDs: pass, Hooks: hooks, WatchLog: w.wanted()})
	if err != nil {
		return fail(err)
	}
	j, err := prepare(o, p)
	if err != nil {
		r.Cancel()
		return fail(err)
	}
	w.begin(j)
	a.begin(r, j)
	announce(j)
	place, err := r.Place(j.terms())
	if err != nil {
		r.Cancel()
		return fail(err)
	}
	if control != nil {
		go j.follow(control, r, w)
	}
	attached, foreground := r.Terminal()
	out := r.Wait(j.request(place, attached, foreground), j.proxyConfig(j.policy))
	w.end()
	if out.Fault != nil {
		return fail(inside(out.Fault))
	}
	return exitStatus(out)
}

// inside gives err the way out that counts where srt is started in a sandbox: no hint about this machine leads to another one in there.
func inside(err error) error {
	f, ok := errors.AsType[*wire.Fault](err)
	if !ok || os.Getenv("SANDBOX_RUNTIME") == "" || faultStatus(f) != exitFailed {
		return err
	}
	g := *f
	g.Hint = "this runs in a sandbox already (SANDBOX_RUNTIME is set), where no other can be made: run the command without srt, or start what starts it outside"
	return &g
}

// announce says what is run when a person looks on, and what the settings do not do here.
func announce(j *job) {
	for _, w := range j.policy.Warnings() {
		say("warning: " + w)
	}
	if j.o.debug {
		source := j.ctx.SettingsPath
		if source == "" {
			source = "built-in defaults: no network, no writes"
		}
		say("debug: settings: " + source)
		for _, n := range j.policy.Notes() {
			say("debug: " + n)
		}
	}
	if isTerminal(2) {
		print2("Running: " + j.o.shown(j.text))
	}
}

// showPlan says what the helper has to say about the limits.
func showPlan(o *options, plan wire.LaunchPlan) {
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
