package limits

import "github.com/srt-dev/srt/helpers/srt-windows/sd"

// Token flags for CreateRestrictedToken.
const (
	DisableMaxPrivilege = 0x1 // every privilege goes but SeChangeNotifyPrivilege, which lets a path be walked
	WriteRestricted     = 0x8 // writes must also be granted to a restricting SID
	TokenFlags          = DisableMaxPrivilege | WriteRestricted
)

// KeptPrivilege is the only one that a command's token has.
const KeptPrivilege = "SeChangeNotifyPrivilege"

// Restricting are the SIDs that every command's token is restricted to, beside the run's own (its folder, processes, pipes and desktop)
// and one per writable root. The account's own SID is not among them on purpose: with it a command could open the runner, write the
// account's profile and the files of other sessions.
var Restricting = []sd.SID{
	sd.Everyone,   // NUL, the console driver and the named objects of the system are open to it
	sd.Restricted, // objects that Windows opens to restricted code by name
}

// Limits of the job that holds the runner and the command.
const (
	JobKillOnClose = 0x2000 // the tree dies with srt-windows exec, however that ends
	JobDieOnFault  = 0x0400 // no dialog box that waits for a click
	JobBreakaway   = 0x0800 // never set: a child could leave the job
	JobSilentBreak = 0x1000 // never set: the same without asking
	JobLimits      = JobKillOnClose | JobDieOnFault
	JobUIHandles   = 0x01 // no window or hook of a process outside
	JobUIClipRead  = 0x02 // no reading of the clipboard
	JobUIClipWrite = 0x04 // no writing of it
	JobUISystem    = 0x08 // no system parameters
	JobUIDisplay   = 0x10 // no display settings
	JobUIAtoms     = 0x20 // its own atom table
	JobUIDesktop   = 0x40 // no other desktop
	JobUIExit      = 0x80 // no logging off, no shutting down
	JobUI          = JobUIHandles | JobUIClipRead | JobUIClipWrite | JobUISystem | JobUIDisplay | JobUIAtoms | JobUIDesktop | JobUIExit
)

// Rights on objects that are no files.
const (
	PipeAll         = 0x1F01FF
	PipeConnect     = 0x12019B // read, write, attributes, synchronize: a client of a pipe, without creating instances
	StationAll      = 0xF037F
	DesktopAll      = 0xF01FF
	ProcessAll      = 0x1FFFFF
	ProcessWait     = 0x100000 // synchronize: whoever may also ask for information may open the process's token
	TokenDefaultAll = sd.GenericAll
)
