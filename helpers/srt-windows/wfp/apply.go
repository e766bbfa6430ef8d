package wfp

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Apply makes the fence be exactly the set, in one transaction, and reads it back. When it fails the machine is as it was.
// old names the sublayers that earlier installs may have left.
func Apply(api winapi.Firewalls, set Set, old ...winapi.GUID) error {
	if err := transact(api, "install the fence", func(fw winapi.Firewall) error {
		if err := clear(fw, append(old, set.Sublayer.Key)); err != nil {
			return err
		}
		if err := fw.ProviderAdd(set.Provider); err != nil {
			return fmt.Errorf("add provider %q: %w", set.Provider.Name, err)
		}
		if err := fw.SublayerAdd(set.Sublayer); err != nil {
			return fmt.Errorf("add sublayer %q: %w", set.Sublayer.Name, err)
		}
		for _, f := range set.Filters {
			if err := fw.FilterAdd(f); err != nil {
				return fmt.Errorf("add filter %q: %w", f.Name, err)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	drift, err := Drift(api, set)
	if err != nil {
		return err
	}
	if len(drift) > 0 {
		return fmt.Errorf("read the fence back: %s", drift[0])
	}
	return nil
}

// Remove takes the whole fence away in one transaction; one that is not there is removed already.
func Remove(api winapi.Firewalls, sublayers ...winapi.GUID) error {
	return transact(api, "remove the fence", func(fw winapi.Firewall) error { return clear(fw, sublayers) })
}

// Drift compares the machine with the planned fence.
func Drift(api winapi.Firewalls, want Set) (drift []string, err error) {
	fw, err := api.FirewallOpen()
	if err != nil {
		return nil, fmt.Errorf("open the filtering platform: %w", err)
	}
	defer func() { err = errors.Join(err, fw.Close()) }()
	var have Set
	if have.Provider, err = fw.ProviderGet(limits.Provider); err != nil && !errors.Is(err, winapi.ErrProviderUnknown) {
		return nil, fmt.Errorf("read the provider: %w", err)
	}
	if have.Sublayer, err = fw.SublayerGet(want.Sublayer.Key); err != nil && !errors.Is(err, winapi.ErrSublayerUnknown) {
		return nil, fmt.Errorf("read the sublayer: %w", err)
	}
	if have.Filters, err = fw.Filters(limits.Provider); err != nil {
		return nil, fmt.Errorf("read the filters: %w", err)
	}
	return Diff(want, have), nil
}

// clear removes what carries srt's keys, whatever state an earlier run left.
func clear(fw winapi.Firewall, sublayers []winapi.GUID) error {
	filters, err := fw.Filters(limits.Provider)
	if err != nil {
		return fmt.Errorf("read the filters: %w", err)
	}
	for _, f := range filters {
		if err := fw.FilterDel(f.Key); err != nil && !errors.Is(err, winapi.ErrFilterNotFound) {
			return fmt.Errorf("remove filter %q: %w", f.Name, err)
		}
	}
	for _, key := range sublayers {
		if err := fw.SublayerDel(key); err != nil && !errors.Is(err, winapi.ErrSublayerUnknown) {
			return fmt.Errorf("remove sublayer %s: %w", key, err)
		}
	}
	if err := fw.ProviderDel(limits.Provider); err != nil && !errors.Is(err, winapi.ErrProviderUnknown) {
		return fmt.Errorf("remove the provider: %w", err)
	}
	return nil
}

func transact(api winapi.Firewalls, op string, work func(winapi.Firewall) error) (err error) {
	fw, err := api.FirewallOpen()
	if err != nil {
		return fmt.Errorf("%s: open the filtering platform: %w", op, err)
	}
	defer func() { err = errors.Join(err, fw.Close()) }()
	if err := fw.Begin(); err != nil {
		return fmt.Errorf("%s: begin: %w", op, err)
	}
	if err := work(fw); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", op, err), fw.Abort())
	}
	if err := fw.Commit(); err != nil {
		return fmt.Errorf("%s: commit: %w", op, err)
	}
	return nil
}
