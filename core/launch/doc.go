// Package launch runs one command in its sandbox: it starts the helper that becomes the sandbox, hands the command its standard
// streams, its terminal and its signals, starts proxyd when the first connection arrives, and says how the command ended. It must
// never let a command run on when a part that limits it is gone, leave a process, socket or file behind, or wait for ever.
//
// One goroutine, locked to the main thread, does everything that matters in a loop around poll(2) (the parent-death signal of the
// children belongs to the thread that started them). Whatever else happens (signals, new network lists) is posted to that loop.
//
// It imports golang.org/x/sys for poll, pidfds and the terminal's process group.
package launch
