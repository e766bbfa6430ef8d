package fake

import (
	"slices"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

type key struct {
	security sd.Descriptor
	values   map[string]winapi.Value
}

func machineKey() sd.Descriptor {
	return sd.Descriptor{Owner: sd.Administrators, DACL: []sd.ACE{
		{Mask: limits.KeyAll, Flags: sd.Inherit, SID: sd.LocalSystem}, {Mask: limits.KeyAll, Flags: sd.Inherit, SID: sd.Administrators},
		{Mask: limits.KeyRead, Flags: sd.Inherit, SID: sd.Users}}}
}

// keyFor finds a key and checks the caller's right to it. The caller holds the lock.
func (w *Windows) keyFor(path string, mask uint32) (*key, error) {
	k := w.keys[upper(path)]
	if k == nil {
		return nil, winapi.ErrFileNotFound
	}
	if ok, _ := sd.Check(k.security, w.token(), mask, sd.KeyMapping); !ok {
		return nil, winapi.ErrAccessDenied
	}
	return k, nil
}

// KeyCreate implements winapi.Registry.
func (w *Windows) KeyCreate(path string, d sd.Descriptor) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("KeyCreate %s", path); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	if k := w.keys[upper(path)]; k != nil {
		k.security = d
		return w.done(nil)
	}
	for parent := upper(path); strings.Contains(parent, `\`); {
		parent = parent[:strings.LastIndex(parent, `\`)]
		if w.keys[parent] == nil {
			w.keys[parent] = &key{security: machineKey(), values: map[string]winapi.Value{}}
		}
	}
	w.keys[upper(path)] = &key{security: d, values: map[string]winapi.Value{}}
	return w.done(nil)
}

// KeySecurity implements winapi.Registry.
func (w *Windows) KeySecurity(path string) (sd.Descriptor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("KeySecurity %s", path); err != nil {
		return sd.Descriptor{}, err
	}
	k, err := w.keyFor(path, sd.ReadControl)
	if err != nil {
		return sd.Descriptor{}, err
	}
	d := k.security
	d.DACL = slices.Clone(d.DACL)
	return d, nil
}

// KeyDelete implements winapi.Registry.
func (w *Windows) KeyDelete(path string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("KeyDelete %s", path); err != nil {
		return err
	}
	if err := w.admin(); err != nil {
		return err
	}
	if w.keys[upper(path)] == nil {
		return winapi.ErrFileNotFound
	}
	for p := range w.keys {
		if p == upper(path) || strings.HasPrefix(p, upper(path)+`\`) {
			delete(w.keys, p)
		}
	}
	return w.done(nil)
}

// ValueGet implements winapi.Registry.
func (w *Windows) ValueGet(path, name string) (winapi.Value, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("ValueGet %s %s", path, name); err != nil {
		return winapi.Value{}, err
	}
	k, err := w.keyFor(path, limits.KeyRead)
	if err != nil {
		return winapi.Value{}, err
	}
	v, ok := k.values[upper(name)]
	if !ok {
		return winapi.Value{}, winapi.ErrFileNotFound
	}
	return v, nil
}

// ValueSet implements winapi.Registry.
func (w *Windows) ValueSet(path, name string, v winapi.Value) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("ValueSet %s %s", path, name); err != nil {
		return err
	}
	k, err := w.keyFor(path, 2) // KEY_SET_VALUE
	if err != nil {
		return err
	}
	k.values[upper(name)] = v
	return w.done(nil)
}

// ValueDelete implements winapi.Registry.
func (w *Windows) ValueDelete(path, name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.call("ValueDelete %s %s", path, name); err != nil {
		return err
	}
	k, err := w.keyFor(path, 2)
	if err != nil {
		return err
	}
	if _, ok := k.values[upper(name)]; !ok {
		return winapi.ErrFileNotFound
	}
	delete(k.values, upper(name))
	return w.done(nil)
}
