// Package setup installs, removes and reports what srt keeps on a machine: account, group, fence, registry key and run folder, in an
// order that never leaves an account that can log on without a fence. Every step may be repeated; a run that was cut short is finished
// by the next install or undone by uninstall.
package setup

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/wfp"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// States of a Record. Commands run in StateReady only.
const (
	StateInstalling = "installing"
	StateReady      = "ready"
	StateRemoving   = "removing"
)

// Record is what install writes down, as strict JSON in one registry value.
type Record struct {
	Setup     int         `json:"setup"` // limits.Version
	State     string      `json:"state"`
	User      string      `json:"user"`
	Group     string      `json:"group"`
	UserSID   sd.SID      `json:"userSid"`
	GroupSID  sd.SID      `json:"groupSid"`
	Low       int         `json:"low"`
	High      int         `json:"high"`
	Loopback  bool        `json:"loopback"`
	Sublayer  winapi.GUID `json:"sublayer"`
	RunFolder string      `json:"runFolder"`
	Users     []sd.SID    `json:"users"` // who may run commands
}

const (
	recordValue   = "Record"
	passwordValue = "Password"
	maxRecord     = 64 << 10
)

const installHint = "srt-windows install"

// Load reads the record. found is false when nothing was ever installed.
func Load(api winapi.Registry) (rec Record, found bool, err error) {
	v, err := api.ValueGet(limits.StateKey, recordValue)
	switch {
	case errors.Is(err, winapi.ErrFileNotFound):
		return Record{}, false, nil
	case errors.Is(err, winapi.ErrAccessDenied):
		return Record{}, true, &problem.Error{Code: problem.NotAllowed, Op: "read the installation", Err: err,
			Detail: "srt is installed, but not for this user", Fix: installHint + " as this user (an administrator must agree)"}
	case err != nil:
		return Record{}, false, fmt.Errorf("read the installation: %w", err)
	}
	if err := wire.Decode([]byte(v.String), maxRecord, &rec); err != nil {
		return Record{}, true, &problem.Error{Code: problem.Incomplete, Op: "read the installation", Err: err, Fix: installHint + " --force"}
	}
	if rec.Setup != limits.Version {
		return rec, true, &problem.Error{Code: problem.Incomplete, Op: "read the installation",
			Detail: fmt.Sprintf("it was made by another release (set-up %d, this one is %d)", rec.Setup, limits.Version), Fix: installHint + " --force"}
	}
	return rec, true, nil
}

// believed is Load for whoever acts on the record with an administrator's rights: one that somebody else could have written is refused.
func believed(api winapi.Registry) (rec Record, found bool, err error) {
	if rec, found, err = Load(api); err != nil || !found {
		return rec, found, err
	}
	d, err := api.KeySecurity(limits.StateKey)
	if err != nil {
		return Record{}, true, fmt.Errorf("read who may run commands: %w", err)
	}
	if who := account.Forger(d); who != "" {
		return Record{}, true, forged(who)
	}
	return rec, true, nil
}

// unbelieved says of an error of believed that force may pass it over: the record is there and no use.
func unbelieved(err error) bool {
	return problem.Of(err) == problem.Incomplete || problem.Of(err) == problem.Drift
}

func forged(who string) error {
	return &problem.Error{Code: problem.Drift, Op: "read the installation", Detail: who + " can write into srt's registry key, so nothing in it is believed",
		Fix: installHint + " --force makes it anew, srt-windows uninstall --force removes what has the usual names"}
}

// Ready is Load for whoever is about to run a command. A key that lets the account read its password would let a command log on without its
// limits, and one that somebody else can write describes no fence.
func Ready(api winapi.Registry) (Record, error) {
	rec, err := complete(api)
	if err != nil {
		return rec, err
	}
	d, err := api.KeySecurity(limits.StateKey)
	if err != nil {
		return Record{}, fmt.Errorf("read who may run commands: %w", err)
	}
	if who := account.Forger(d); who != "" {
		return Record{}, forged(who)
	}
	if by := account.ReadBy(d, rec.ids()); by != "" {
		return Record{}, &problem.Error{Code: problem.Drift, Op: "read the installation", Detail: "the sandbox account can read its own password through " + string(by), Fix: installHint}
	}
	return rec, nil
}

// complete is Load for whoever needs an installation that was brought to its end.
func complete(api winapi.Registry) (Record, error) {
	rec, found, err := Load(api)
	switch {
	case err != nil:
		return Record{}, err
	case !found:
		return Record{}, &problem.Error{Code: problem.NotInstalled, Op: "read the installation", Detail: "the sandbox account is not installed on this machine", Fix: installHint}
	case rec.State != StateReady:
		return Record{}, &problem.Error{Code: problem.Incomplete, Op: "read the installation",
			Detail: "an install or uninstall was interrupted (state " + rec.State + ")", Fix: installHint}
	}
	return rec, nil
}

// Password unseals the account's password.
func Password(api winapi.System) (string, error) {
	v, err := api.ValueGet(limits.StateKey, passwordValue)
	if err != nil {
		return "", fmt.Errorf("read the account's sealed password: %w", err)
	}
	plain, err := api.Unprotect(v.Binary, []byte(limits.Entropy))
	if err != nil {
		return "", &problem.Error{Code: problem.Incomplete, Op: "unseal the account's password", Err: err, Fix: installHint}
	}
	return string(plain), nil
}

func (r Record) save(api winapi.Registry) error {
	b, err := wire.Encode(r)
	if err != nil {
		return err
	}
	if err := api.ValueSet(limits.StateKey, recordValue, winapi.Value{Kind: winapi.KindString, String: string(b)}); err != nil {
		return fmt.Errorf("write the installation down: %w", err)
	}
	return nil
}

func (r Record) ids() account.IDs { return account.IDs{User: r.UserSID, Group: r.GroupSID} }

func (r Record) names() account.Names { return account.Names{User: r.User, Group: r.Group} }

// Fence is the fence that belongs to the record.
func (r Record) Fence() (wfp.Set, error) {
	return wfp.Plan(wfp.Spec{Account: r.UserSID, Low: r.Low, High: r.High, Loopback: r.Loopback, Sublayer: r.Sublayer})
}
