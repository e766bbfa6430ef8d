// Package initd is PID 1 of a sandbox, the verb init of srt-linux: it runs inside the namespaces that bwrap made, makes the mounts and
// the listeners, hands the listeners out, starts the command behind a nested PID and user namespace and a system call filter, and
// supervises it until it ends. It is the only process of a sandbox that holds a capability. It must never run a program of the user's
// before the filter is on, trust a name that the workspace controls, or go on when a step failed.
package initd
