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

// Report is the answer of status.
type Report struct {
	Installed bool             `json:"installed"`
	State     string           `json:"state"`
	User      string           `json:"user"`
	UserSID   sd.SID           `json:"userSid"`
	Low       int              `json:"proxyPortLow"`
	High      int              `json:"proxyPortHigh"`
	Loopback  bool             `json:"allowLoopback"`
	Sublayer  winapi.GUID      `json:"sublayer"`
	Allowed   []sd.SID         `json:"allowedUsers"`
	Items     []wire.CheckItem `json:"items"`
}

// Err gives the first failure as a refusal, nil when there is none.
func (r Report) Err() error {
	for _, i := range r.Items {
		if i.State == wire.CheckFail {
			return &problem.Error{Code: problem.Drift, Op: "check " + i.Name, Detail: i.Detail, Fix: i.Fix}
		}
	}
	return nil
}

func (r *Report) fail(name, detail, fix string) {
	r.Items = append(r.Items, wire.CheckItem{Name: name, State: wire.CheckFail, Detail: detail, Fix: fix})
}

func (r *Report) add(name string, drift []string, unread string) {
	switch {
	case len(drift) > 0:
		for _, d := range drift {
			r.fail(name, d, installHint)
		}
	case unread != "":
		r.Items = append(r.Items, wire.CheckItem{Name: name, State: wire.CheckWeak, Detail: unread, Fix: "ask again from an elevated prompt, or run srt-windows selfcheck, which tries instead of reading"})
	default:
		r.Items = append(r.Items, wire.CheckItem{Name: name, State: wire.CheckPass, Detail: "as installed"})
	}
}

// Status compares the machine with the record. It changes nothing. An ordinary user may not read the filters and the logon rights;
// that is said, and not counted as good.
func Status(api winapi.System) (Report, error) {
	rec, err := complete(api)
	r := Report{Items: []wire.CheckItem{}, Allowed: []sd.SID{}}
	if err != nil {
		r.Installed = problem.Of(err) != problem.NotInstalled && problem.Of(err) != problem.Failed
		return r, err
	}
	r = Report{Installed: true, State: rec.State, User: rec.User, UserSID: rec.UserSID, Low: rec.Low, High: rec.High, Loopback: rec.Loopback,
		Sublayer: rec.Sublayer, Allowed: rec.Users, Items: []wire.CheckItem{}}

	drift, rightsKnown, err := account.Drift(api, rec.names(), true)
	if err != nil {
		return r, err
	}
	if ids, err := account.Lookup(api, rec.names()); err == nil && (ids.User != rec.UserSID || ids.Group != rec.GroupSID) {
		drift = append(drift, "account or group were made anew since the install")
	}
	unread := ""
	if !rightsKnown {
		unread = "as installed, but the logon rights may only be read by an administrator"
	}
	r.add("account", drift, unread)

	if err := r.key(api, rec); err != nil {
		return r, err
	}

	if _, err := Password(api); err != nil {
		drift = []string{err.Error()}
	} else {
		drift = nil
	}
	r.add("password", drift, "")

	fence, err := rec.Fence()
	if err != nil {
		return r, err
	}
	switch drift, err = wfp.Drift(api, fence); {
	case errors.Is(err, winapi.ErrAccessDenied):
		r.add("fence", nil, "the filters may only be read by an administrator")
	case err != nil:
		return r, err
	default:
		r.add("fence", drift, "")
	}
	return r, nil
}

// key judges who may do what with the registry key.
func (r *Report) key(api winapi.Registry, rec Record) error {
	const name = "registry key"
	d, err := api.KeySecurity(limits.StateKey)
	if err != nil {
		return fmt.Errorf("read who may run commands: %w", err)
	}
	if who := account.Forger(d); who != "" {
		e := forged(who)
		r.fail(name, problem.Fault(e).Detail, problem.Fix(e))
		return nil
	}
	r.add(name, account.KeyDrift(d, rec.Users, rec.ids()), "")
	return nil
}
