// Package sandbox runs commands in srt's sandbox from a Go program. It feels like os/exec:
//
//	m, err := sandbox.New(ctx, config)
//	…
//	defer m.Close()
//	out, err := m.Command(ctx, "npm", "test").Output()
//
// A Manager holds one session: a helper and a proxyd, started once, for any number of commands at the same time. When one of them dies,
// every call after it is an error; nothing is ever run with less protection than the Config asks for. When the program ends, however it
// ends, everything inside every sandbox ends with it.
//
// It is there on Linux only: elsewhere New is an error that says so.
//
// What a sandbox refused is a violation: Manager.Violations keeps the last hundred, Manager.Annotate appends those of one command to
// its stderr, for a model that has to be told why something failed.
//
// The package must never run anything outside the sandbox but srt's own programs, which are found in one directory (WithLibexec) and
// never by PATH or a setting.
package sandbox
