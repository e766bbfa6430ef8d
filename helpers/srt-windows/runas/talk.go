package runas

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// exec and runner talk over a named pipe that lets in one process, the runner. A message is its length in four bytes, little end first,
// and strict JSON.
//
//	exec → runner   SayPrepare  once: what to run and which identifiers the token is restricted to
//	runner → exec   SayReady    the runner's token spec and the self-check's report, made by a process under that token
//	exec → runner   SayGo       the report was good: start the command; without it nothing runs
//	runner → exec   SayStarted  the command runs
//	runner → exec   SayFault    instead of SayReady or SayStarted: nothing was run
//	exec → runner   SayCtrlC, SayCtrlBreak, SayResize   any number, once it runs
//	runner → exec   SayExit     how the command ended; the last word
//
// When exec's end closes, the job has been closed too and the runner is gone.
const (
	SayPrepare   = "prepare"
	SayReady     = "ready"
	SayGo        = "go"
	SayStarted   = "started"
	SayFault     = "fault"
	SayCtrlC     = "ctrl-c"
	SayCtrlBreak = "ctrl-break"
	SayResize    = "resize"
	SayExit      = "exit"
)

const maxTalk = 4 << 20

// Message is one message; exactly the field that belongs to Kind is set.
type Message struct {
	Kind    string       `json:"kind"`
	Prepare *Prepare     `json:"prepare,omitempty"`
	Ready   *Ready       `json:"ready,omitempty"`
	Fault   *wire.Fault  `json:"fault,omitempty"`
	Size    *Size        `json:"size,omitempty"`
	Exit    *ExitMessage `json:"exit,omitempty"`
}

// Prepare is what to run.
type Prepare struct {
	Argv     []string `json:"argv"`
	Env      []string `json:"env"` // as Environment made it
	Dir      string   `json:"dir"`
	Own      sd.SID   `json:"own"`     // the run's own identifier
	Roots    []sd.SID `json:"roots"`   // those of the writable roots
	Callers  []sd.SID `json:"callers"` // logon SIDs of the user's session
	Account  sd.SID   `json:"account"`
	Desktop  string   `json:"desktop"`
	Terminal bool     `json:"terminal"` // the runner's streams 0 and 1 are the two ends of a terminal
	Size     Size     `json:"size"`
	Check    []byte   `json:"check"` // what the self-check's process is told
}

// Size is that of a terminal, in cells.
type Size struct {
	Columns int `json:"columns"`
	Rows    int `json:"rows"`
}

// Ready is what the runner made.
type Ready struct {
	Half   sd.SID `json:"half"`   // see func Half
	Report []byte `json:"report"` // what the self-check's process answered
}

// ExitMessage is the command's exit status, all 32 bits of it.
type ExitMessage struct {
	Code  uint64      `json:"code"`
	Blame *wire.Fault `json:"blame,omitempty"` // why it failed, where that is known
}

// TokenAnswer is a winapi.TokenFacts on its way.
type TokenAnswer struct {
	User            sd.SID   `json:"user"`
	Groups          []sd.SID `json:"groups"`
	Restricting     []sd.SID `json:"restricting"`
	WriteRestricted bool     `json:"writeRestricted"`
	Privileges      []string `json:"privileges"`
}

// Answer makes a TokenAnswer.
func Answer(f winapi.TokenFacts) TokenAnswer {
	return TokenAnswer{f.User, append([]sd.SID{}, f.Groups...), append([]sd.SID{}, f.Restricting...), f.WriteRestricted, append([]string{}, f.Privileges...)}
}

// Facts gives back what Answer was made of.
func (a TokenAnswer) Facts() winapi.TokenFacts {
	return winapi.TokenFacts{User: a.User, Groups: a.Groups, Restricting: a.Restricting, WriteRestricted: a.WriteRestricted, Privileges: a.Privileges}
}

// Send writes one message.
func Send(w io.Writer, v any) error {
	payload, err := wire.Encode(v)
	if err != nil {
		return err
	}
	if len(payload) > maxTalk {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "talk to the runner", Detail: fmt.Sprintf("%d bytes, at most %d are sent", len(payload), maxTalk)}
	}
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	if _, err := w.Write(append(frame, payload...)); err != nil {
		return &wire.Fault{Code: wire.CodePeerGone, Op: "talk to the runner", Detail: err.Error()}
	}
	return nil
}

// Receive reads one message.
func Receive(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return &wire.Fault{Code: wire.CodePeerGone, Op: "listen to the runner", Detail: err.Error()}
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxTalk {
		return &wire.Fault{Code: wire.CodeTooLarge, Op: "listen to the runner", Detail: fmt.Sprintf("%d bytes, at most %d are read", n, maxTalk)}
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return &wire.Fault{Code: wire.CodePeerGone, Op: "listen to the runner", Detail: err.Error()}
	}
	return wire.Decode(payload, maxTalk, v)
}
