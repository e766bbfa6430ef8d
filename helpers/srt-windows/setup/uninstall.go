package setup

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/wfp"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Uninstall takes everything away. The fence goes after the account, so that nothing of the account is ever without it. With force,
// commands that still run are ended; without it they are a reason to refuse.
func Uninstall(api winapi.System, force bool) error {
	elevated, err := api.Elevated()
	if err != nil {
		return fmt.Errorf("find out whether this process is elevated: %w", err)
	}
	if !elevated {
		return &problem.Error{Code: problem.NotElevated, Op: "uninstall", Detail: "an administrator is needed", Fix: "run it again and agree when Windows asks, or use an elevated prompt"}
	}
	rec, found, err := believed(api)
	switch {
	case err != nil && !(force && unbelieved(err)):
		return err
	case err != nil: // the record cannot be read, or not be believed: fall back on the usual names
		if rec, err = usual(api); err != nil {
			return err
		}
	case !found:
		return removeKey(api) // an install that was cut short before its first word
	}
	if err := rec.findUser(api); err != nil {
		return err
	}
	if err := refuseRunning(api, rec, force); err != nil {
		return err
	}
	rec.Setup, rec.State = limits.Version, StateRemoving
	if err := rec.save(api); err != nil {
		return err
	}
	if err := removeAccount(api, rec); err != nil {
		return err
	}
	if err := wfp.Remove(api); err != nil {
		return err
	}
	if rec.RunFolder != "" {
		if err := api.RemoveTree(rec.RunFolder); err != nil && !errors.Is(err, winapi.ErrFileNotFound) && !errors.Is(err, winapi.ErrPathNotFound) {
			return fmt.Errorf("remove the folder %q: %w", rec.RunFolder, err)
		}
	}
	return removeKey(api)
}

func removeKey(api winapi.Registry) error {
	if err := api.KeyDelete(limits.StateKey); err != nil && !errors.Is(err, winapi.ErrFileNotFound) {
		return fmt.Errorf("remove the registry key: %w", err)
	}
	return nil
}

func refuseRunning(api winapi.Self, rec Record, force bool) error {
	if rec.UserSID == "" || force {
		return nil
	}
	running, err := api.ProcessesOf(rec.UserSID)
	if err != nil {
		return fmt.Errorf("look for running commands: %w", err)
	}
	if len(running) > 0 {
		return &problem.Error{Code: problem.Running, Op: "uninstall", Detail: fmt.Sprintf("%d processes run under the account %q", len(running), rec.User),
			Fix: "wait for them, or end them with --force"}
	}
	return nil
}

// usual is the record of an installation with the usual names. A run folder that belongs to somebody else is not srt's.
func usual(api winapi.System) (Record, error) {
	rec := Record{User: limits.User, Group: limits.Group, Sublayer: limits.Sublayer, Users: []sd.SID{}}
	path, err := runFolder(api)
	if err != nil {
		return rec, err
	}
	switch _, err := ownFolder(api, path); {
	case problem.Of(err) == problem.Foreign:
	case err != nil:
		return rec, err
	default:
		rec.RunFolder = path
	}
	return rec, nil
}

// removeAccount disables, ends what runs, and removes.
func removeAccount(api winapi.System, rec Record) error {
	if err := rec.findUser(api); err != nil {
		return err
	}
	if err := account.Disable(api, rec.names()); err != nil {
		return err
	}
	if rec.UserSID != "" {
		if err := account.EndAll(api, rec.UserSID); err != nil {
			return err
		}
	}
	return account.Remove(api, rec.names(), rec.ids())
}

// findUser fills in the identifier of an account that was made just before an install was cut short.
func (r *Record) findUser(api winapi.Accounts) error {
	if r.UserSID != "" {
		return nil
	}
	sid, err := api.LookupSID(r.User)
	if err != nil && !errors.Is(err, winapi.ErrNoneMapped) {
		return fmt.Errorf("look up account %q: %w", r.User, err)
	}
	r.UserSID = sid
	return nil
}
