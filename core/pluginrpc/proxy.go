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
	c := &carrier{limit: wire.MaxProxyPiped, apart: overPort || o.byPort}
	var end []*os.File
	if !c.apart {
		ours, theirs, err := oneshot.Pair()
		if err != nil {
			return nil, fault(err)
		}
		c.limit, c.channel, end = wire.MaxProxyMessage, oneshot.NewChannel(ours, wire.MaxProxyMessage), []*os.File{os.NewFile(uintptr(theirs), "channel")}
	}
	p, err := start(ctx, o, nameProxy, end...)
	for _, f := range end {
		f.Close()
	}
	if err != nil {
		c.close()
		return nil, err
	}
	talk, cancel := context.WithCancel(context.Background())
	stream, err := p.conn.NewStream(talk, &proxyDesc.Streams[0], "/"+proxyService+"/"+converse)
	if err != nil {
		cancel()
		p.end()
		c.close()
		return nil, oneshot.Blame(o.Path, callFault(err))
	}
	c.stream, c.words, c.cancel = stream, words{stream}, cancel
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
	limit  int  // bytes of one word to proxyd
	apart  bool // proxyd has no channel, so no descriptor reaches it

	sending sync.Mutex // of the stream
	using   sync.RWMutex
	channel *oneshot.Channel // nil when closed
}

func (c *carrier) Send(cmd wire.ProxyCommand, fds ...int) error {
	if len(fds) > 0 && c.apart {
		return &wire.Fault{Code: wire.CodeUnsupported, Op: "send message", Detail: "no descriptor can be handed to proxyd on this way"}
	}
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
	if len(b) > c.limit {
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
