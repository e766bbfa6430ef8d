package pluginrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"google.golang.org/grpc"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// Proxy is a proxyd that serves a session. It implements wire.Proxy; any number of calls may run at once.
type Proxy struct {
	*oneshot.Conversation
	peer *peer
	c    *carrier
}

var _ wire.Proxy = (*Proxy)(nil)

// StartProxy starts proxyd. The caller must read Events until it is closed, and call Close.
func StartProxy(ctx context.Context, o Options) (*Proxy, error) {
	fault := func(err error) error {
		return &wire.Fault{Code: wire.CodeInternal, Op: "make a channel to", Path: o.Path, Detail: err.Error()}
	}
	ours, theirs, err := oneshot.Pair()
	if err != nil {
		return nil, fault(err)
	}
	channel := oneshot.NewChannel(ours, wire.MaxProxyMessage)
	end := os.NewFile(uintptr(theirs), "channel")
	p, err := start(ctx, o, nameProxy, end)
	end.Close()
	if err != nil {
		channel.Close()
		return nil, err
	}
	talk, cancel := context.WithCancel(context.Background())
	stream, err := p.conn.NewStream(talk, &proxyDesc.Streams[0], "/"+proxyService+"/"+converse)
	if err != nil {
		cancel()
		p.end()
		channel.Close()
		return nil, oneshot.Blame(o.Path, callFault(err))
	}
	c := &carrier{stream: stream, words: words{stream}, cancel: cancel, channel: channel}
	proxy := &Proxy{Conversation: oneshot.Converse(o.Path, c), peer: p, c: c}
	if o.Limit != 0 {
		proxy.SetLimit(o.Limit)
	}
	return proxy, nil
}

// Close ends proxyd and waits for it.
func (p *Proxy) Close() error {
	p.c.Shutdown()
	p.peer.end()
	<-p.Done()
	p.c.close()
	return nil
}

// Pid is the process id of proxyd.
func (p *Proxy) Pid() int { return p.peer.Pid() }

// carrier brings words by RPC, and those with descriptors over the channel.
type carrier struct {
	stream grpc.ClientStream
	words  words
	cancel context.CancelFunc

	sending sync.Mutex // of the stream
	using   sync.RWMutex
	channel *oneshot.Channel // nil when closed
}

func (c *carrier) Send(cmd wire.ProxyCommand, fds ...int) error {
	if len(fds) > 0 {
		c.using.RLock()
		defer c.using.RUnlock()
		if c.channel == nil {
			return gone()
		}
		return c.channel.Send(cmd, fds...)
	}
	b, err := wire.Encode(cmd)
	if err != nil {
		return err
	}
	if len(b) > wire.MaxProxyMessage {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "send message", Detail: "the message is over its bound"}
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.words.Send(b); err != nil {
		return gone()
	}
	return nil
}

func (c *carrier) Recv(e *wire.ProxyEvent) error {
	b, err := c.words.Recv()
	if err != nil {
		if f := callFault(err); f.Code != wire.CodePeerGone && !errors.Is(err, io.EOF) {
			return f
		}
		return gone()
	}
	if len(b) > wire.MaxProxyMessage {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "read message", Detail: fmt.Sprintf("over %d bytes", wire.MaxProxyMessage)}
	}
	return wire.Decode(b, wire.MaxProxyMessage, e)
}

// Shutdown ends both ways.
func (c *carrier) Shutdown() {
	c.cancel()
	c.using.RLock()
	defer c.using.RUnlock()
	if c.channel != nil {
		c.channel.Shutdown()
	}
}

// close frees the channel when nobody sends any more.
func (c *carrier) close() {
	c.using.Lock()
	defer c.using.Unlock()
	if c.channel != nil {
		c.channel.Close()
		c.channel = nil
	}
}

func gone() error {
	return &wire.Fault{Code: wire.CodePeerGone, Op: "read message", Detail: "the peer closed the channel"}
}
