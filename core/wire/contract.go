package wire

import (
	"context"
	"os"
)

// Helper is the contract of the per-OS helper, whatever the transport.
type Helper interface {
	Describe(ctx context.Context) (Description, error)
	Check(ctx context.Context, req CheckRequest) (CheckReport, error)
	Prepare(ctx context.Context, req LaunchRequest) (LaunchPlan, error)
}

// Proxy is the contract of proxyd, whatever the transport. Attach takes ownership of the files.
// Events is closed when proxyd is gone; calls then fail with a Fault of CodePeerGone.
type Proxy interface {
	Configure(ctx context.Context, cfg ProxyConfig) error
	Attach(ctx context.Context, a Attach, files []*os.File) error
	Assign(ctx context.Context, a Assign) error
	Detach(ctx context.Context, commandID string) error
	Answer(ctx context.Context, a Answer) error
	Events() <-chan ProxyEvent
	Close() error
}
