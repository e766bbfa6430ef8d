// Package limits is the one table of what proxyd grants a client, an origin and srt before it gives up. It holds constants only and
// must never hold a policy: nothing here decides where a command may connect.
package limits

import "time"

// Sizes, in bytes.
const (
	RequestHead  = 64 << 10  // request line and headers; more gets 431. Larger than any browser's cookies, smaller than a flood
	ResponseHead = 128 << 10 // status line and headers of an origin
	ChunkLine    = 4 << 10   // a chunk-size line with its extensions
	Trailers     = 16 << 10  // trailer section of a body
	CopyBuffer   = 32 << 10  // per HTTP body that is being copied; nothing longer is ever held
	ProxyHead    = 16 << 10  // answer of an upstream proxy to CONNECT
	Reason       = 400       // a refusal's reason in an answer to the command (OpenSSH cuts longer ones)
	EventReason  = 4 << 10   // the same in an event; the settings may hold anything
)

// Times.
const (
	FirstByte     = 60 * time.Second       // a connection that says nothing
	RequestHeader = 30 * time.Second       // from the first byte of a request to the end of its headers
	KeepAlive     = 5 * time.Minute        // between two requests of one connection
	Handshake     = 30 * time.Second       // the whole SOCKS exchange before the decision
	Resolve       = 10 * time.Second       // one look-up
	Connect       = 20 * time.Second       // all attempts to reach one destination
	HeadStart     = 250 * time.Millisecond // what one address gets before the next one is tried as well (RFC 8305)
	Upstream      = 30 * time.Second       // the exchange with an upstream proxy, TLS included
	Continue      = time.Second            // how long a body waits for "100 Continue" of the origin
	Linger        = 500 * time.Millisecond // reading on after a refusal, so that the client sees it before the reset
	Probe         = 30 * time.Second       // TCP keep-alive towards the outside: a tunnel has no idle limit, but a dead peer ends it
	Ask           = 30 * time.Second       // an unanswered question, when the configuration names no time
	LocalAddrs    = time.Second            // how old the list of this host's addresses may be
)

// Numbers.
const (
	Connections = 2048 // open connections of one command; more wait in the kernel's backlog
	Narrow      = 128  // open connections of one command that one processor serves: with 64 it answers half as many requests again as two do
	Headers     = 256  // header lines of one request
	Questions   = 64   // open questions to the user; more are denied
	Events      = 1024 // different refusals that wait for srt; more are counted together
)
