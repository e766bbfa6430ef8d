package channel

import (
	"io"
	"log/slog"
	"os"

	"github.com/srt-dev/srt/core/wire"
)

// ServeSession speaks with srt over words. No channel comes beside them here, so the descriptor is not looked at. It ends when the
// conversation does (nil), or when it breaks (the reason).
func ServeSession(words Words, _ uintptr, log *slog.Logger) error { return serve(alone{words}, log) }

// alone is a conversation without descriptors.
type alone struct{ Words }

func (a alone) recv() ([]byte, []*os.File, error) {
	msg, err := a.Recv()
	if err != nil { // whatever ended it, srt is not there any more
		err = io.EOF
	}
	return msg, nil, err
}

func (a alone) send(msg []byte) error { return a.Send(msg) }

func (a alone) limit() int { return wire.MaxProxyPiped }

func (a alone) Close() error { return nil } // the process ends with its conversation
