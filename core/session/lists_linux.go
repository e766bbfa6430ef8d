package session

import (
	"context"
	"errors"

	"github.com/srt-dev/srt/core/wire"
)

// Relist asks for the lists of one command again and brings them to proxyd, for connections to come. A command that does not run has none.
func (s *Session) Relist(ctx context.Context, commandID string) error {
	c := s.find(commandID)
	if c == nil {
		return nil
	}
	c.assigning.Lock()
	defer c.assigning.Unlock()
	if !c.attached { // will ask by itself
		return nil
	}
	err := s.proxy.Assign(ctx, wire.Assign{CommandID: c.id, Lists: c.lists()})
	if f, ok := errors.AsType[*wire.Fault](err); ok && f.Code == wire.CodeNotFound {
		return nil // it has ended
	}
	return err
}

func (s *Session) find(commandID string) *Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.running {
		if c.id == commandID {
			return c
		}
	}
	return nil
}
