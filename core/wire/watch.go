package wire

// VerbWatch is the verb of a helper whose system reports denials in a log (macOS). It gets a WatchRequest, answers with a Description
// once the log is being read, and from then on sends ControlMessages of KindViolation on the control channel, until the other end of
// that channel is closed.
const VerbWatch = "watch"

// WatchRequest asks for the denials of all commands of one session.
type WatchRequest struct {
	Version   int    `json:"version"`
	SessionID string `json:"sessionId"` // HostContext.SessionID of the session's LaunchRequests
}
