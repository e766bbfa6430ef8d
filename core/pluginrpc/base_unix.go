//go:build unix

package pluginrpc

// overPort says that peers are reached by a socket.
const overPort = false

// baseEnv is the environment that every program of srt gets.
func baseEnv() ([]string, error) { return []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, nil }
