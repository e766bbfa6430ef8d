package sandbox

import (
	"context"
	"fmt"

	"github.com/srt-dev/srt/core/hostmatch"
	"github.com/srt-dev/srt/core/violation"
	"github.com/srt-dev/srt/core/wire"
)

// maxLists bounds the lists of one command: they travel in one message to proxyd.
const maxLists = wire.MaxProxyMessage / 2

// RegisterNetworkLists gives the commands under this id network lists of their own, until UnregisterNetworkLists. They hold for the next
// connection, also of commands that run. Registering an id again replaces its lists. Lists that are not valid are an error and change
// nothing; any other error says that the Manager cannot go on, and then no connection is let through.
func (m *Manager) RegisterNetworkLists(commandID string, l NetworkLists) error {
	fault := func(code, list, detail string) error {
		return &Fault{Code: code, Op: "register network lists", Path: list, Detail: detail}
	}
	if commandID == "" {
		return fault(wire.CodePolicy, "", "the command id is empty")
	}
	if _, err := hostmatch.ParseList(l.AllowedDomains); err != nil {
		return fault(wire.CodePolicy, "allowedDomains", err.Error())
	}
	if _, err := hostmatch.ParseDenyList(l.DeniedDomains); err != nil {
		return fault(wire.CodePolicy, "deniedDomains", err.Error())
	}
	size := 0
	for _, entries := range [][]string{l.AllowedDomains, l.DeniedDomains} {
		for _, e := range entries {
			size += len(e) + len(`"",`)
		}
	}
	if size > maxLists {
		return fault(wire.CodeTooLarge, "", fmt.Sprintf("they have %d bytes, at most %d are accepted: put what holds for every command into the Config", size, maxLists))
	}
	l = NetworkLists{append([]string{}, l.AllowedDomains...), append([]string{}, l.DeniedDomains...)}
	m.mu.Lock()
	m.lists[violation.KeyOf(commandID)] = l
	m.mu.Unlock()
	return m.relist(commandID)
}

// UnregisterNetworkLists forgets the lists of this id, also for the next connection of commands that run.
func (m *Manager) UnregisterNetworkLists(commandID string) {
	m.mu.Lock()
	delete(m.lists, violation.KeyOf(commandID))
	m.mu.Unlock()
	if err := m.relist(commandID); err != nil {
		m.o.log.Warn("no connection is let through any more: " + err.Error())
	}
}

// relist brings what m.lists holds for a key to the commands that run. Whoever comes last brings the newest.
func (m *Manager) relist(key string) error {
	key = violation.KeyOf(key)
	var ids []string
	m.mu.Lock()
	for id, o := range m.origins {
		if violation.KeyOf(o.key) == key {
			ids = append(ids, id)
		}
	}
	m.mu.Unlock()
	for _, id := range ids {
		if err := m.session.Relist(context.Background(), id); err != nil {
			return err
		}
	}
	return nil
}

// listsOf gives the lists that hold for the commands of a key now.
func (m *Manager) listsOf(key string) *wire.NetLists {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.lists[violation.KeyOf(key)]
	if !ok {
		return nil
	}
	return &wire.NetLists{AllowedDomains: l.AllowedDomains, DeniedDomains: l.DeniedDomains}
}
