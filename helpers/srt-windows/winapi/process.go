package winapi

import (
	"io"
	"net/netip"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

// TokenSpec is what CreateRestrictedToken is asked for.
type TokenSpec struct {
	Flags       uint32
	Disable     []sd.SID // groups that count for denials only from here on
	Restricting []sd.SID
	DefaultDACL []sd.ACE
}

// TokenFacts is what a token says of itself when it is asked.
type TokenFacts struct {
	User            sd.SID
	Groups          []sd.SID // enabled ones
	Restricting     []sd.SID
	WriteRestricted bool
	Privileges      []string
}

// JobSpec is the limits of a job.
type JobSpec struct{ Limits, UI uint32 }

// Stream is an open file, pipe or NUL device.
type Stream interface {
	io.Reader
	io.Writer
	io.Closer
	Fd() uintptr // the handle
}

// StartSpec is a process to be started.
type StartSpec struct {
	Program string // absolute
	Line    string
	Env     []string
	Dir     string
	Desktop string    // "" inherits
	Streams [3]Stream // the only handles that are inherited
}

// Process is a started process.
type Process interface {
	Pid() uint32
	Resume() error // of a suspended one
	Wait() (code uint32, err error)
	Kill() error
	Close() error // leaves it running
}

// Job holds processes. When the last handle is closed its limits end them.
type Job interface {
	Assign(p Process) error
	Facts() (JobSpec, error)
	Close() error
}

// Desktop is a window station with one desktop, gone with its last handle.
type Desktop interface {
	Name() string
	Close() error
}

// Listener is the server's end of a named pipe for one client.
type Listener interface {
	Accept(pid uint32) (io.ReadWriteCloser, error) // refuses every process but pid
	Close() error
}

// Host is what exec needs of Windows, beside System.
type Host interface {
	NewJob(s JobSpec) (Job, error)
	NewDesktop(station, desktop sd.Descriptor) (Desktop, error)
	NewPipe(name string, d sd.Descriptor) (Listener, error)
	StartAs(user, password string, s StartSpec) (Process, error) // suspended, on a console of its own
}

// Console is a pseudo console.
type Console interface {
	Resize(columns, rows int) error
	Close() error
}

// Token is a token that processes are started under.
type Token interface {
	Facts() (TokenFacts, error)
	Start(s StartSpec, c Console) (Process, error) // c nil: on the runner's own hidden console
	Close() error
}

// Inner is what the runner needs of Windows.
type Inner interface {
	HardenSelf(d sd.Descriptor) error
	LogonSIDs() ([]sd.SID, error)
	Restrict(s TokenSpec) (Token, error)
	NewConsole(in, out Stream, columns, rows int) (Console, error)
	Streams() [3]Stream // the runner's own
	SystemDir() (string, error)
	Exists(path string) bool
	Interrupt(brk bool) error // Ctrl-C or Ctrl-Break for everything on the runner's console but the runner
	Pipe() (r, w Stream, err error)
	Null() (Stream, error)
}

// Prober is what the self-check's process inside the sandbox needs.
type Prober interface {
	OwnToken() (TokenFacts, error)
	OwnJob() (JobSpec, error) // of the job that the process is in; an error when it is in none
	Dial(to netip.AddrPort, udp bool) error
	Touch(op, path string) error // see selfcheck for the operations
}
