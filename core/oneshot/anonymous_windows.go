package oneshot

import "github.com/srt-dev/srt/core/wire"

// inlineConfig: a pipe carries every configuration as one message.
const inlineConfig = wire.MaxProxyConfig

// anonymousFile fails: descriptors cannot be handed over here.
func anonymousFile([]byte) (int, error) { return -1, errNoChannel }
