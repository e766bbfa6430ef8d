package pluginrpc

import (
	"errors"
	"syscall"
)

// ownedBySrt gives nothing: no child is started here (see sealInherited).
func ownedBySrt() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func dieWithParent() error { return errors.ErrUnsupported }

// sealInherited refuses: a peer is told of srt's death by an inherited descriptor, which Windows does not have.
func sealInherited() error { return errors.ErrUnsupported }
