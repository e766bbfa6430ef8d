package oneshot

import (
	"context"

	"github.com/srt-dev/srt/core/wire"
)

// Configure replaces the whole egress policy, for connections to come.
func (p *Conversation) Configure(ctx context.Context, cfg wire.ProxyConfig) error {
	b, err := wire.Encode(cfg)
	if err != nil {
		return err
	}
	if len(b) > wire.MaxProxyConfig {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "configure", Path: p.name, Detail: "the network lists are too long"}
	}
	if len(b) < inlineConfig {
		return p.Call(ctx, wire.ProxyCommand{Op: wire.OpConfigure, Config: &cfg})
	}
	fd, err := anonymousFile(b)
	if err != nil {
		return &wire.Fault{Code: wire.CodeInternal, Op: "hold the network lists for", Path: p.name, Detail: err.Error()}
	}
	defer CloseAll([]int{fd})
	return p.Call(ctx, wire.ProxyCommand{Op: wire.OpConfigure, ConfigFD: true}, fd)
}
