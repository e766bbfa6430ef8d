package wfp

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Apply makes the fence be exactly the set, in one transaction, and reads it back. When it fails the machine is as it was.
// What stands under the set's keys goes, whoever put it there: Claim has said that they are srt's.
func Apply(api winapi.Firewalls, set Set) error {
	if err := transact(api, "install the fence", func(fw winapi.Firewall) error {
		if err := clear(fw, set.Sublayer.Key); err != nil {
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
func Remove(api winapi.Firewalls) error {
	return transact(api, "remove the fence", func(fw winapi.Firewall) error { return clear(fw, limits.Sublayer) })
}

// Claim says who has a sublayer, when it is another provider; "" when the key is free, or srt's.
func Claim(api winapi.Firewalls, key winapi.GUID) (owner string, err error) {
	fw, err := api.FirewallOpen()
	if err != nil {
		return "", fmt.Errorf("open the filtering platform: %w", err)
	}
	defer func() { err = errors.Join(err, fw.Close()) }()
	all, err := fw.Sublayers()
	if err != nil {
		return "", fmt.Errorf("read the sublayers: %w", err)
	}
	for _, s := range all {
		if s.Key == key && s.Provider != limits.Provider {
			return fmt.Sprintf("%q of provider %s", s.Name, s.Provider), nil
		}
	}
	return "", nil
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
	if err := have.read(fw, want.Sublayer.Key); err != nil {
		return nil, err
	}
	return Diff(want, have), nil
}

// read takes in what belongs to srt: its sublayers and the one called key, and the filters that are its own or lie in one of those. A
// filter of somebody else's in there could decide before srt's.
func (s *Set) read(fw winapi.Firewall, key winapi.GUID) error {
	all, err := fw.Sublayers()
	if err != nil {
		return fmt.Errorf("read the sublayers: %w", err)
	}
	ours := map[winapi.GUID]bool{}
	for _, l := range all {
		switch {
		case l.Key == key:
			s.Sublayer = l
		case l.Provider == limits.Provider:
			s.Others = append(s.Others, l)
		default:
			continue
		}
		ours[l.Key] = true
	}
	if s.Filters, err = fw.Filters(func(p, l winapi.GUID) bool { return p == limits.Provider || ours[l] }); err != nil {
		return fmt.Errorf("read the filters: %w", err)
	}
	return nil
}

// clear removes what is srt's, whatever state an earlier run left, and what lies in it.
func clear(fw winapi.Firewall, sublayer winapi.GUID) error {
	var have Set
	if err := have.read(fw, sublayer); err != nil {
		return err
	}
	for _, f := range have.Filters {
		if err := fw.FilterDel(f.Key); err != nil && !errors.Is(err, winapi.ErrFilterNotFound) {
			return fmt.Errorf("remove filter %q: %w", f.Name, err)
		}
	}
	if have.Sublayer.Key != "" {
		have.Others = append(have.Others, have.Sublayer)
	}
	for _, l := range have.Others {
		if err := fw.SublayerDel(l.Key); err != nil && !errors.Is(err, winapi.ErrSublayerUnknown) {
			return fmt.Errorf("remove sublayer %s: %w", l.Key, err)
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
