package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/wfp"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

const otherName = "choose another name with --sandbox-user"

func notTheGroup(user string) error {
	if strings.EqualFold(user, limits.Group) {
		return fmt.Errorf("account name %q: srt's group has this name", user)
	}
	return nil
}

func itself(user string) error {
	return &problem.Error{Code: problem.Usage, Op: "install", Path: user, Detail: "the sandbox account itself must not run commands", Fix: "install as the user who will, or " + otherName}
}

func foreign(name, detail, fix string) error {
	return &problem.Error{Code: problem.Foreign, Op: "install", Path: name, Detail: detail, Fix: fix}
}

// claim finds out which of account, group and sublayer are srt's already. What somebody else made is refused, or with force taken over where that
// locks nobody out. Nothing has been changed when it refuses.
func (r *Record) claim(api winapi.System, old Record, o Options) error {
	for _, c := range []struct {
		name, was string
		recorded  sd.SID
		mine      *sd.SID
	}{{r.User, old.User, old.UserSID, &r.UserSID}, {r.Group, old.Group, old.GroupSID, &r.GroupSID}} {
		sid, err := api.LookupSID(c.name)
		switch {
		case errors.Is(err, winapi.ErrNoneMapped):
			continue
		case err != nil:
			return fmt.Errorf("look up %q: %w", c.name, err)
		case slices.Contains(r.Users, sid):
			return itself(c.name)
		case strings.EqualFold(c.name, c.was) && (c.recorded == "" || c.recorded == sid):
			*c.mine = sid
		case !o.Force:
			return foreign(c.name, "an account or group of this name exists and srt did not make it", otherName+", or take it over with --force")
		}
	}
	if !strings.EqualFold(r.User, old.User) {
		r.GroupSID = "" // it goes with the old account
	}
	if err := r.judgeAccount(api, o); err != nil || r.Sublayer == limits.Sublayer || r.Sublayer == old.Sublayer {
		return err
	}
	owner, err := wfp.Claim(api, r.Sublayer)
	if err == nil && owner != "" {
		err = foreign(string(r.Sublayer), "this is the sublayer "+owner+", whose filters srt would remove", "choose another with --sublayer-guid")
	}
	return err
}

// judgeAccount looks at an account that is there. One that is not srt's yet would get another password and no way to log on; one that has
// more rights than it should may be running with them.
func (r *Record) judgeAccount(api winapi.System, o Options) error {
	sid, err := api.LookupSID(r.User)
	if errors.Is(err, winapi.ErrNoneMapped) {
		return nil
	} else if err != nil {
		return fmt.Errorf("look up %q: %w", r.User, err)
	}
	self, err := api.UserSID()
	if err != nil {
		return fmt.Errorf("find out who installs: %w", err)
	}
	switch {
	case sid == self:
		return itself(r.User)
	case !sid.Account():
		return foreign(r.User, "an account or group that is built into Windows has this name", otherName)
	}
	groups, err := account.ForeignGroups(api, r.User, account.IDs{User: sid, Group: r.GroupSID})
	if err != nil || len(groups) == 0 {
		return err
	}
	if r.UserSID == "" {
		return foreign(r.User, "srt did not make this account, and it is in the group "+string(groups[0])+": somebody needs it", otherName)
	}
	running, err := api.ProcessesOf(sid)
	if err != nil {
		return fmt.Errorf("look for running commands: %w", err)
	}
	if len(running) > 0 && !o.Force {
		return &problem.Error{Code: problem.Running, Op: "install", Path: r.User, Detail: fmt.Sprintf("it is in the group %s, which srt did not do, and %d processes may have that group's rights", groups[0], len(running)),
			Fix: "wait for them, or end them with --force"}
	}
	return nil
}
