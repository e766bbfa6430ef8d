package launch

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

// NewPlace gives a place for a plan that nobody executes: no port is opened, and the token opens nothing.
func NewPlace(t Terms) (*Place, error) {
	return &Place{ProxyAddr: loopback(t.Ports[0]), Token: "TOKEN", listener: -1, held: -1}, nil
}

// Close has nothing to remove: the port ends with proxyd.
func (p *Place) Close() error { return nil }

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// settle has proxyd open a port for the command, and gives its place. Until it is configured proxyd refuses everything.
func settle(ctx context.Context, p *oneshot.Proxy, t Terms) (*Place, error) {
	token := make([]byte, wire.MinToken/2)
	if _, err := rand.Read(token); err != nil {
		return nil, &wire.Fault{Code: wire.CodeInternal, Op: "draw a token", Detail: err.Error()}
	}
	if err := p.Configure(ctx, wire.ProxyConfig{Version: wire.Version}); err != nil {
		return nil, err
	}
	a := wire.Attach{CommandID: t.CommandID, Listeners: []wire.Listener{{Role: wire.RoleProxy}}, Token: hex.EncodeToString(token)}
	for port := t.Ports[0]; port <= t.Ports[1]; port++ {
		a.Listen = loopback(port)
		switch err := p.Attach(ctx, a, nil); {
		case err == nil:
			return &Place{ProxyAddr: a.Listen, Token: a.Token, listener: -1, held: -1}, nil
		case oneshot.AsFault(err).Code != wire.CodeBusy:
			return nil, err
		}
	}
	return nil, &wire.Fault{Code: wire.CodeUnsupported, Op: "open a port for the proxy", Path: fmt.Sprintf("%d-%d", t.Ports[0], t.Ports[1]),
		Detail: "every port of the range is taken; there can be as many commands at once as it has ports",
		Hint:   "wait until a command has ended, or give srt-windows install --force --proxy-port-range and windows.proxyPortRange a wider range"}
}
