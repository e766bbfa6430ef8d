package pluginrpc

import "github.com/srt-dev/srt/core/oneshot"

// overPort says that peers are reached by a port: sockets with a name cannot be asked here who is at their other end.
const overPort = true

// baseEnv is the environment that every program of srt gets.
func baseEnv() ([]string, error) { return oneshot.ChildEnv() }
