package fake

import (
	"maps"
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// platform is the state of the filtering platform.
type platform struct {
	providers map[winapi.GUID]winapi.Provider
	sublayers map[winapi.GUID]winapi.Sublayer
	filters   map[winapi.GUID]winapi.Filter
}

func newPlatform() *platform {
	return &platform{map[winapi.GUID]winapi.Provider{}, map[winapi.GUID]winapi.Sublayer{}, map[winapi.GUID]winapi.Filter{}}
}

func (p *platform) clone() *platform {
	return &platform{maps.Clone(p.providers), maps.Clone(p.sublayers), maps.Clone(p.filters)}
}

type firewall struct{ w *Windows }

// FirewallOpen implements winapi.Firewalls. An ordinary user may open the platform but read and change nothing.
func (w *Windows) FirewallOpen() (winapi.Firewall, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("FirewallOpen"); err != nil {
		return nil, err
	}
	return &firewall{w}, nil
}

// Tamper changes the platform behind srt's back.
func (w *Windows) Tamper(change func(filters map[winapi.GUID]winapi.Filter)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w.fwCommitted.filters)
}

// TamperOwners changes providers and sublayers behind srt's back.
func (w *Windows) TamperOwners(change func(providers map[winapi.GUID]winapi.Provider, sublayers map[winapi.GUID]winapi.Sublayer)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w.fwCommitted.providers, w.fwCommitted.sublayers)
}

// do runs one call on the state that is in force: the open transaction's, or the committed one.
func (f *firewall) do(what string, key winapi.GUID, work func(p *platform) error) error {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	if err := f.w.call("%s", strings.TrimSpace(what+" "+string(key))); err != nil {
		return err
	}
	if err := f.w.admin(); err != nil {
		return err
	}
	p := f.w.fwOpen
	if p == nil {
		p = f.w.fwCommitted
	}
	return f.w.done(work(p))
}

func (f *firewall) Begin() error {
	return f.do("Begin", "", func(*platform) error {
		if f.w.fwOpen != nil {
			return winapi.ErrTxnInProgress
		}
		f.w.fwOpen = f.w.fwCommitted.clone()
		return nil
	})
}

func (f *firewall) Commit() error {
	return f.do("Commit", "", func(*platform) error {
		if f.w.fwOpen == nil {
			return winapi.ErrNoTxn
		}
		f.w.fwCommitted, f.w.fwOpen = f.w.fwOpen, nil
		return nil
	})
}

func (f *firewall) Abort() error {
	return f.do("Abort", "", func(*platform) error {
		if f.w.fwOpen == nil {
			return winapi.ErrNoTxn
		}
		f.w.fwOpen = nil
		return nil
	})
}

func (f *firewall) Close() error {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.fwOpen = nil // the platform aborts what was open, also when the call is lost
	return f.w.call("Close")
}

func (f *firewall) ProviderGet(key winapi.GUID) (out winapi.Provider, err error) {
	err = f.do("ProviderGet", key, func(p *platform) error {
		var ok bool
		if out, ok = p.providers[key]; !ok {
			return winapi.ErrProviderUnknown
		}
		return nil
	})
	return out, err
}

func (f *firewall) ProviderAdd(v winapi.Provider) error {
	return f.do("ProviderAdd", v.Key, func(p *platform) error {
		if _, ok := p.providers[v.Key]; ok {
			return winapi.ErrFwpExists
		}
		p.providers[v.Key] = v
		return nil
	})
}

func (f *firewall) ProviderDel(key winapi.GUID) error {
	return f.do("ProviderDel", key, func(p *platform) error {
		if _, ok := p.providers[key]; !ok {
			return winapi.ErrProviderUnknown
		}
		for _, s := range p.sublayers {
			if s.Provider == key {
				return winapi.ErrFwpInUse
			}
		}
		for _, x := range p.filters {
			if x.Provider == key {
				return winapi.ErrFwpInUse
			}
		}
		delete(p.providers, key)
		return nil
	})
}

func (f *firewall) Sublayers() (out []winapi.Sublayer, err error) {
	err = f.do("Sublayers", "", func(p *platform) error {
		out = slices.SortedFunc(maps.Values(p.sublayers), func(a, b winapi.Sublayer) int { return strings.Compare(string(a.Key), string(b.Key)) })
		return nil
	})
	return out, err
}

func (f *firewall) SublayerAdd(v winapi.Sublayer) error {
	return f.do("SublayerAdd", v.Key, func(p *platform) error {
		if _, ok := p.sublayers[v.Key]; ok {
			return winapi.ErrFwpExists
		}
		if _, ok := p.providers[v.Provider]; !ok {
			return winapi.ErrProviderUnknown
		}
		p.sublayers[v.Key] = v
		return nil
	})
}

func (f *firewall) SublayerDel(key winapi.GUID) error {
	return f.do("SublayerDel", key, func(p *platform) error {
		if _, ok := p.sublayers[key]; !ok {
			return winapi.ErrSublayerUnknown
		}
		for _, x := range p.filters {
			if x.Sublayer == key {
				return winapi.ErrFwpInUse
			}
		}
		delete(p.sublayers, key)
		return nil
	})
}

func (f *firewall) Filters(wanted func(provider, sublayer winapi.GUID) bool) (out []winapi.Filter, err error) {
	err = f.do("Filters", "", func(p *platform) error {
		for _, x := range p.filters {
			if wanted(x.Provider, x.Sublayer) {
				out = append(out, x)
			}
		}
		slices.SortFunc(out, func(a, b winapi.Filter) int { return strings.Compare(string(a.Key), string(b.Key)) })
		return nil
	})
	return out, err
}

func (f *firewall) FilterAdd(v winapi.Filter) error {
	return f.do("FilterAdd", v.Key, func(p *platform) error {
		if _, ok := p.filters[v.Key]; ok {
			return winapi.ErrFwpExists
		}
		if _, ok := p.sublayers[v.Sublayer]; !ok {
			return winapi.ErrSublayerUnknown
		}
		if _, ok := p.providers[v.Provider]; !ok {
			return winapi.ErrProviderUnknown
		}
		p.filters[v.Key] = v
		return nil
	})
}

func (f *firewall) FilterDel(key winapi.GUID) error {
	return f.do("FilterDel", key, func(p *platform) error {
		if _, ok := p.filters[key]; !ok {
			return winapi.ErrFilterNotFound
		}
		delete(p.filters, key)
		return nil
	})
}
