package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/elevate"
	"github.com/srt-dev/srt/helpers/srt-windows/journal"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/setup"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

type checkItem = wire.CheckItem

// verbRunner carries out the verbs for people.
type verbRunner struct {
	sys     winapi.System
	store   journal.Store
	out     io.Writer
	random  io.Reader
	self    func() (string, error)
	elevate func(self, parameters string) (int, error)
	check   func() ([]checkItem, error)
}

func (v verbRunner) run(args []string, w words) error {
	switch w.verb {
	case "install":
		return v.install(args, w)
	case "uninstall":
		return v.uninstall(args, w)
	case "status":
		return v.status(w)
	case "selfcheck":
		items, err := v.check()
		return errors.Join(v.items(items, w.has("json")), err)
	case "acl":
		return v.acl(w)
	}
	return usageError("unknown verb %q", w.verb)
}

func (v verbRunner) install(args []string, w words) error {
	o := setup.Options{User: w.options["sandbox-user"], Loopback: w.has("allow-loopback"), Sublayer: w.sublayer(), Force: w.has("force"), For: w.forUser(), Random: v.random,
		Tell: func(what string) { fmt.Fprintln(v.out, "put back:", what) }}
	if text, ok := w.options["proxy-port-range"]; ok {
		var err error
		if o.Low, o.High, err = portRange(text); err != nil {
			return err
		}
	}
	err := setup.Install(v.sys, o)
	if problem.Of(err) == problem.NotElevated && !w.has("elevated") {
		return v.again(args, err)
	}
	if err == nil {
		_, err = fmt.Fprintln(v.out, "installed; srt-windows selfcheck proves it on this machine")
	}
	return err
}

func (v verbRunner) uninstall(args []string, w words) error {
	if !w.has("elevated") {
		// This user's entries go first and as this user: once the group is gone they mean nothing, but they would stay on the files.
		if dropped, err := journal.New(v.sys, v.store).Forget("", w.has("force")); err != nil {
			return err
		} else if len(dropped) > 0 {
			fmt.Fprintf(v.out, "%d access entries could not be removed and are forgotten\n", len(dropped))
		}
	}
	err := setup.Uninstall(v.sys, w.has("force"))
	if problem.Of(err) == problem.NotElevated && !w.has("elevated") {
		return v.again(args, err)
	}
	return err
}

// again runs the same words as an administrator.
func (v verbRunner) again(args []string, cause error) error {
	user, err := v.sys.UserSID()
	if err != nil {
		return err
	}
	parameters, err := elevate.Parameters(args, user)
	if err != nil {
		return err
	}
	self, err := v.self()
	if err != nil {
		return err
	}
	switch status, err := v.elevate(self, parameters); {
	case errors.Is(err, elevate.ErrDeclined):
		return cause
	case err != nil:
		return err
	case status != 0:
		for _, r := range problem.Table {
			if r.Exit == status {
				return &problem.Error{Code: r.Code, Op: args[0] + " as an administrator", Detail: r.Meaning, Fix: "run it in an elevated prompt to read more"}
			}
		}
		return statusError(status)
	}
	_, err = fmt.Fprintln(v.out, args[0]+": done; srt-windows status shows it")
	return err
}

func (v verbRunner) status(w words) error {
	r, err := setup.Status(v.sys)
	if err != nil && !w.has("json") {
		return err
	}
	if w.has("json") {
		return errors.Join(v.json(r), err, r.Err())
	}
	fmt.Fprintf(v.out, "account %s (%s), proxy ports %d-%d, loopback open: %v\n", r.User, r.UserSID, r.Low, r.High, r.Loopback)
	return errors.Join(v.items(r.Items, false), r.Err())
}

func (v verbRunner) items(items []checkItem, asJSON bool) error {
	if asJSON {
		return v.json(append([]checkItem{}, items...)) // no items are [], not null
	}
	for _, i := range items {
		fmt.Fprintf(v.out, "%s %s: %s\n", i.State, i.Name, i.Detail)
		if i.Fix != "" {
			fmt.Fprintf(v.out, "     hint: %s\n", i.Fix)
		}
	}
	return nil
}

func (v verbRunner) json(x any) error {
	e := json.NewEncoder(v.out)
	e.SetEscapeHTML(false)
	return e.Encode(x)
}

func (v verbRunner) acl(w words) error {
	j := journal.New(v.sys, v.store)
	verb := ""
	if len(w.operands) > 0 {
		verb = w.operands[0]
	}
	switch {
	case verb == "list" && len(w.operands) == 1:
		entries, err := j.List()
		if err != nil {
			return err
		}
		if w.has("json") {
			return v.json(append([]journal.Entry{}, entries...)) // none are [], not null
		}
		for _, e := range entries {
			state := fmt.Sprintf("needed by %d commands", len(e.Holders))
			if len(e.Holders) == 0 {
				state = "left over"
			}
			fmt.Fprintf(v.out, "%s %s (%s; %s)\n", e.Path, e.ACE(), e.Why, state)
		}
		return nil
	case verb == "forget" && (len(w.operands) == 2) != w.has("all"):
		path := ""
		if !w.has("all") {
			clean, err := winpath.Clean(w.operands[1])
			if err != nil {
				return usageError("%v", err)
			}
			path = clean
		}
		dropped, err := j.Forget(path, w.has("force"))
		for _, e := range dropped {
			fmt.Fprintf(v.out, "forgotten, still on disk: %s %s\n", e.Path, e.ACE())
		}
		return err
	}
	return usageError("acl list | acl forget PATH | acl forget --all")
}
