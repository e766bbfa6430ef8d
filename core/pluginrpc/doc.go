// Package pluginrpc speaks the contract of core/wire over go-plugin, for sessions that keep helper and proxyd for many commands. It is
// the only package that knows go-plugin, and must never reach a program that starts once per command (linking it costs 20 ms). It must
// never hand on the caller's environment or standard streams, wait for ever, or talk to a process that it did not start.
//
//	srt → peer     one call: a frame of core/oneshot in a BytesValue; the answer is a frame too
//	srt ↔ proxyd   one stream of calls "Converse": each message is one word of wire/proxy.go; what carries descriptors goes over the
//	               channel that proxyd inherits beside it
//
// There are two ways to a peer, and one test table runs over both.
//
//	a socket (Linux, macOS)   The peer inherits descriptor LifetimeFD, a pipe whose end says that srt is gone, and proxyd also ChannelFD. It makes
//	                          a private directory for its socket, and removes it as soon as srt has connected. Both sides ask the kernel who is
//	                          at the other end.
//	a port (Windows)          The lifetime pipe is the peer's standard input, and there is no channel. The peer opens a port of 127.0.0.1, outside of
//	                          those that commands reach, behind go-plugin's AutoMTLS: certificates of this one session, the keys of which
//	                          never leave their process. Every process may connect, and gets no further than the handshake.
//
// srt connects once: what comes after the end of a connection is another process.
//
// Dependencies: hashicorp/go-plugin, because users of its helpers know its protocol; grpc, because go-plugin's other transport prints
// errors of its own at the end; protobuf for BytesValue, which gRPC moves without a generator; go-hclog to keep go-plugin silent;
// golang.org/x/sys for peer credentials, the parent-death signal, and process groups of Windows.
package pluginrpc
