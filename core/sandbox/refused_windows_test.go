package sandbox

import (
	"errors"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

// A program that counts on a Manager learns at once, and in one sentence, that there is none.
func TestNoManagerOnWine(t *testing.T) {
	m, err := New(t.Context(), Config{})
	if m != nil {
		m.Close()
		t.Fatal("a Manager that can run nothing")
	}
	f, ok := errors.AsType[*wire.Fault](err)
	if !ok || f.Code != wire.CodeUnsupported || f.Error() != `run commands in a session on "windows": sessions are there on Linux only` || f.Hint != "start srt itself for each command" {
		t.Errorf("got %v", err)
	}
}
