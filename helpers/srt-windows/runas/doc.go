// Package runas starts a command under the sandbox account, in two hops: srt-windows exec (the user) starts a runner as the account with
// CreateProcessWithLogonW, and the runner, which the command cannot open, starts the command under a write-restricted token. All of it
// is in one job that dies with exec. What is decided is planned in pure code; exec and runner only carry it out and read back. It must
// never hand a console, a window station or a handle of the user's to the command, beside its three streams, and never the password.
package runas
