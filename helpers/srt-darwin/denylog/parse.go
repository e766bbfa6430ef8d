package denylog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// MaxLine bounds a line of the log, in bytes; longer ones say nothing.
const MaxLine = 64 << 10

// maxCount bounds how many equal denials one line may stand for.
const maxCount = 1_000_000

// Predicate is the filter for log(1) that lets through the denials of one session.
func Predicate(sessionID string) (string, error) {
	if err := checkSession(sessionID); err != nil {
		return "", err
	}
	return `sender == "Sandbox" AND eventMessage CONTAINS "` + tagHead + sessionID + `."`, nil
}

// event is what we read of one line of "log stream --style ndjson".
type event struct {
	EventMessage     string `json:"eventMessage"`
	ProcessID        *int   `json:"processID"`
	ProcessImagePath string `json:"processImagePath"`
	SenderImagePath  string `json:"senderImagePath"`
	Timestamp        string `json:"timestamp"`
}

// fromKernel says that the kernel's Sandbox extension wrote the event: a program can write the same text, but not as the kernel.
func (e *event) fromKernel() bool {
	return e.ProcessID != nil && *e.ProcessID == 0 && e.ProcessImagePath == "/kernel" && strings.HasSuffix(e.SenderImagePath, "/Sandbox.kext/Contents/MacOS/Sandbox")
}

// Parse reads one line. ok is false for everything that is not a denial of a command of this session, and for the noise that every
// program makes.
func Parse(line []byte, sessionID string) (v wire.Violation, ok bool) {
	if len(line) > MaxLine || !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("{")) || checkSession(sessionID) != nil {
		return v, false // the first line is a banner, the last one a count
	}
	var e event
	if err := json.Unmarshal(line, &e); err != nil || !e.fromKernel() {
		return v, false
	}
	end := strings.LastIndexByte(e.EventMessage, '\n')
	if end < 0 {
		return v, false
	}
	id, ok := commandOf(e.EventMessage[end+1:], sessionID)
	if !ok {
		return v, false
	}
	d, ok := parseMessage(e.EventMessage[:end])
	if !ok || d.isNoise() {
		return v, false
	}
	v = wire.Violation{CommandID: id, Operation: d.kind(), Target: d.place(), Reason: "Seatbelt: " + d.op, Process: d.process, Count: d.count}
	if t, err := time.Parse("2006-01-02 15:04:05.999999-0700", e.Timestamp); err == nil {
		v.TimeMs = t.UnixMilli()
	}
	return v, true
}

// denial is "[N duplicate reports for ]Sandbox: PROCESS(PID) deny(N) OPERATION[ TARGET]".
type denial struct {
	count   int
	process string
	op      string
	target  string
}

func parseMessage(text string) (d denial, ok bool) {
	d.count = 1
	if head, rest, found := strings.Cut(text, " duplicate report"); found && strings.Trim(head, "0123456789") == "" && head != "" {
		n, err := strconv.Atoi(head)
		if err != nil || n < 1 {
			return d, false
		}
		d.count = min(n, maxCount)
		text = strings.TrimPrefix(strings.TrimPrefix(rest, "s"), " for ")
	}
	text, ok = strings.CutPrefix(text, "Sandbox: ")
	if !ok {
		return d, false
	}
	// A process may be called "a(1) deny(1) b"; an operation never looks like what follows there.
	for at := 0; ; {
		i := strings.Index(text[at:], ") deny(")
		if i < 0 {
			return d, false
		}
		at += i
		open := strings.LastIndexByte(text[:at], '(')
		_, rest, found := strings.Cut(text[at+len(") deny("):], ") ")
		op, target, _ := strings.Cut(rest, " ")
		if open > 0 && isNumber(text[open+1:at]) && found && isOperation(op) {
			d.process, d.op, d.target = text[:open], op, target
			return d, true
		}
		at += len(") deny(")
	}
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isOperation(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-*") == ""
}

// kind is the name of the operation in violations.
func (d *denial) kind() string {
	switch {
	case strings.HasPrefix(d.op, "file-read"), d.op == "file-test-existence":
		return "file-read"
	case strings.HasPrefix(d.op, "file-"):
		return "file-write"
	case strings.HasPrefix(d.op, "network-") && strings.HasPrefix(d.place(), "/"):
		return "unix-socket"
	}
	return d.op
}

// place is the target without what says which side of a connection it is.
func (d *denial) place() string {
	if strings.HasPrefix(d.op, "network-") {
		for _, side := range []string{"remote:", "local:"} {
			if rest, ok := strings.CutPrefix(d.target, side); ok {
				return rest
			}
		}
	}
	return d.target
}

// noise is what programs ask for without need, or try and then do without.
var noise = []struct{ op, target, why string }{
	{"mach-lookup", "com.apple.diagnosticd", "every zsh, and curl many times"},
	{"mach-lookup", "com.apple.analyticsd", "system libraries"},
	{"mach-lookup", "com.apple.logd", "os_log, which then keeps silent"},
	{"mach-lookup", "com.apple.system.logger", "syslog, which then keeps silent"},
	{"mach-lookup", "com.apple.cfprefsd.agent", "preferences, which are then read from their files"},
	{"mach-lookup", "com.apple.cfprefsd.daemon", "preferences, which are then read from their files"},
	{"network-outbound", "/private/var/run/mDNSResponder", "a look-up of a name that the proxy does"},
	{"network-outbound", "/private/var/run/syslog", "syslog, which then keeps silent"},
	{"file-write-data", "/dev/dtracehelper", "the dynamic linker of every program"},
	{"file-ioctl", "/dev/dtracehelper", "the dynamic linker of every program"},
}

func (d *denial) isNoise() bool {
	for _, n := range noise {
		if d.op == n.op && d.target == n.target {
			return true
		}
	}
	return false
}
