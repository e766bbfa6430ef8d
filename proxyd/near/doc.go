// Package near serves, by one goroutine for each listener, the tunnels that need no waiting: those to services of this host. There the
// proxy's own time is all there is, and most of it goes to waking goroutines. It accepts, hears what the client says first, and has the
// caller judge and connect; what the caller does not open at once, and every tunnel that becomes busy or backs up, goes on in goroutines.
// It must never look at what it moves, decide, wait for one connection while others are ready, or hold bytes.
package near

import (
	"github.com/srt-dev/srt/proxyd/client"
)

// Way says how the connections of a listener are served.
type Way struct {
	// Hears says that clients speak first: Open is asked with what they said, else with nothing.
	Hears bool
	// Open gives the connected, non-blocking socket to the destination, the answer to the client, and which of the bytes said are for
	// the destination. False: nothing has happened, and Serve gets the connection.
	Open func(said []byte) (t Opened, ok bool)
	// Serve takes over a connection, on a goroutine of its own.
	Serve func(*client.Conn)
	// Full is called when the command has as many connections as it may.
	Full func()
	// Broken is called with a fault of ours that cost one connection, and the stack.
	Broken func(fault any, stack []byte)
}

// Opened is the outside half of a tunnel.
type Opened struct {
	Socket int
	Answer []byte
	Early  []byte
}
