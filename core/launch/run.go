package launch

import "github.com/srt-dev/srt/core/wire"

// Hooks are told what happens. They may be called from any goroutine, one at a time per hook is not promised; nil ones are skipped.
type Hooks struct {
	Plan      func(wire.LaunchPlan)
	Violation func(wire.Violation)
	Allowed   func(wire.Decision)         // only when the configuration or the request asks for an audit
	Report    func([]string)              // what the command left that could run later
	Notice    func(text string)           // something that the user should know while the command goes on
	Ask       func(wire.Ask) (allow bool) // blocks; without it every question is answered with no
}

// Options say how a run begins; all of it is known before the settings are read.
type Options struct {
	Helper  string      // absolute path of the helper, from oneshot.Find
	Enter   []string    // how to start the helper inside its sandbox's namespaces, from entry.Direct; nil: it finds its own way
	Proxy   string      // absolute path of proxyd, from oneshot.Find
	PassFDs map[int]int // descriptors that the user asked to hand on: number for the command → our descriptor
	Hooks   Hooks

	// WatchLog: where the system itself reports denials (macOS), read them. It costs a process that reads the system's log.
	WatchLog bool
}

// Outcome is how a run ended.
type Outcome struct {
	Started bool        // the command was executed; then Exit holds unless Fault is set
	Exit    wire.Exit   // the command's own end
	Fault   *wire.Fault // why srt itself failed
	Signal  int         // srt was told to end by this signal before the command had started
}

// Terms are what a place depends on and only the settings say.
type Terms struct {
	CommandID string
	Ports     [2]int // first and last port that commands may reach (Windows)
}

// Place is where a command finds its proxy and its temporary directory.
type Place struct {
	ProxyAddr string // "127.0.0.1:PORT"
	Token     string // what the command shows to the proxy; "" where nobody else can reach its address
	TmpDir    string // "": the helper makes one (Windows)

	// Where srt opens ProxyAddr itself, else -1. Both stay open until the end: the command may reach that port as long as it runs, so
	// nobody else may ever listen on it.
	listener int
	held     int // the same port of ::1
}
