//go:build unix

package channel

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
)

// ServeSession speaks with srt over words. Commands with descriptors come over the channel fd, which it takes over; nothing is said
// there. It ends when either of them does (nil), or when the conversation breaks (the reason).
func ServeSession(words Words, fd uintptr, log *slog.Logger) error {
	ch, err := open(fd)
	if err != nil {
		return fmt.Errorf("open the channel to srt: %w", err)
	}
	return serve(newBoth(words, ch), log)
}

// both reads from words and from a channel as if they were one.
type both struct {
	words   Words
	ch      transport
	in      chan message
	done    chan struct{}
	closing sync.Once
}

type message struct {
	text  []byte
	files []*os.File
	err   error
}

func newBoth(words Words, ch transport) *both {
	b := &both{words: words, ch: ch, in: make(chan message), done: make(chan struct{})}
	go b.pump(func() (m message) {
		m.text, m.err = words.Recv()
		if m.err != nil { // whatever ended it, srt is not there any more
			m.err = io.EOF
		}
		return m
	})
	go b.pump(func() (m message) {
		m.text, m.files, m.err = ch.recv()
		m.text = bytes.Clone(m.text) // the channel uses its buffer again
		return m
	})
	return b
}

// pump hands on what next gives until it fails or nobody listens.
func (b *both) pump(next func() message) {
	for {
		m := next()
		select {
		case b.in <- m:
		case <-b.done:
			closeAll(m.files)
			return
		}
		if m.err != nil {
			return
		}
	}
}

func (b *both) recv() ([]byte, []*os.File, error) {
	select {
	case m := <-b.in:
		return m.text, m.files, m.err
	case <-b.done:
		return nil, nil, io.EOF
	}
}

func (b *both) send(msg []byte) error { return b.words.Send(msg) }

func (b *both) limit() int { return b.ch.limit() }

func (b *both) Close() error {
	b.closing.Do(func() { close(b.done) })
	return b.ch.Close()
}
