package wire

// VerbGuard is the verb of a helper whose system does not end a sandbox together with srt (macOS). It gets a GuardRequest, answers with
// a Description once it listens, and takes GuardMessages on the control channel. When the other end of that channel is closed, for
// whatever reason, it kills what still runs of the command, removes the command's temporary directory and ends.
const VerbGuard = "guard"

// GuardRequest says by what the processes of a command are known before it is started.
type GuardRequest struct {
	Version int    `json:"version"`
	TmpDir  string `json:"tmpDir"` // of this run alone; the command's environment names it as TMPDIR. "": there is none
}

// GuardMessage says which process the command is. It leads a process group, and perhaps a session.
type GuardMessage struct {
	Version int `json:"version"`
	Pid     int `json:"pid"`
}
