// Package problem is the one table of what srt-windows refuses for: a code for programs, an exit status for scripts, and with each
// error the way out for people. It must never be used for the exit status of a command that ran.
package problem

import (
	"errors"

	"github.com/srt-dev/srt/core/wire"
)

// Code names a reason; programs compare it, so a code never changes its meaning.
type Code string

// Codes.
const (
	Failed       Code = "failed"
	Usage        Code = "usage"
	Unsupported  Code = "unsupported"
	NotInstalled Code = "not-installed"
	Incomplete   Code = "incomplete"
	NotElevated  Code = "not-elevated"
	NotAllowed   Code = "not-allowed"
	Foreign      Code = "foreign"
	Differs      Code = "differs"
	Running      Code = "running"
	Drift        Code = "drift"
	FenceOpen    Code = "fence-open"
	FenceShut    Code = "fence-shut"
	WriteOpen    Code = "write-open"
	Token        Code = "token"
	Job          Code = "job"
	Logon        Code = "logon"
	Policy       Code = "policy"
)

// Row is one line of the table.
type Row struct {
	Code    Code
	Exit    int
	Fault   string // code of the same thing in core/wire
	Meaning string
}

// Table is every code. Statuses up to 63 belong to the verbs of an administrator; exec and plan answer 125, 126 and 127 as srt does.
var Table = []Row{
	{Failed, 1, wire.CodeInternal, "a call of Windows failed"},
	{Usage, 2, wire.CodeMalformed, "the words on the command line are wrong"},
	{Unsupported, 3, wire.CodeUnsupported, "this system is not Windows, or lacks what is needed"},
	{NotInstalled, 10, wire.CodeUnsupported, "srt-windows install has not been run"},
	{Incomplete, 11, wire.CodeUnsupported, "an install or uninstall was interrupted"},
	{NotElevated, 12, wire.CodeUnsupported, "an administrator is needed and none agreed"},
	{NotAllowed, 13, wire.CodeUnsupported, "this user was not given the sandbox account"},
	{Foreign, 14, wire.CodeUnsupported, "an account or group of that name is there and srt did not make it"},
	{Differs, 15, wire.CodeUnsupported, "the installation has other settings"},
	{Running, 16, wire.CodeUnsupported, "commands are running under the account"},
	{Drift, 17, wire.CodeUnsupported, "something that install made was changed"},
	{FenceOpen, 20, wire.CodeUnsupported, "the account reached what it must not reach"},
	{FenceShut, 21, wire.CodeUnsupported, "the account did not reach the proxy ports"},
	{WriteOpen, 22, wire.CodeUnsupported, "the account changed what it must not change"},
	{Token, 23, wire.CodeUnsupported, "the token is not the one that was asked for"},
	{Job, 24, wire.CodeUnsupported, "the job is not the one that was asked for"},
	{Logon, 25, wire.CodeUnsupported, "the account cannot log on"},
	{Policy, 30, wire.CodePolicy, "the settings ask for what cannot be applied"},
}

// Error is a refusal with its way out.
type Error struct {
	Code   Code
	Op     string // what was being done
	Path   string // the thing, when there is one
	Detail string
	Fix    string // the next thing to type or to change
	Err    error  // the cause, when a call failed
}

// Error implements error.
func (e *Error) Error() string { return e.fault().Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) fault() *wire.Fault {
	detail := e.Detail
	switch {
	case e.Err != nil && detail != "":
		detail += ": " + e.Err.Error()
	case e.Err != nil:
		detail = e.Err.Error()
	}
	f := &wire.Fault{Code: wire.CodeInternal, Op: e.Op, Path: e.Path, Detail: detail, Hint: e.Fix}
	for _, r := range Table {
		if r.Code == e.Code {
			f.Code = r.Fault
		}
	}
	return f
}

// Of gives the code of an error; one without is Failed.
func Of(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return Unsupported
	}
	return Failed
}

// Exit gives the exit status for an error of an administrator's verb; 0 for none.
func Exit(err error) int {
	if err == nil {
		return 0
	}
	for _, r := range Table {
		if r.Code == Of(err) {
			return r.Exit
		}
	}
	return 1
}

// Fault gives the form of an error that crosses to srt. A Fault stays as it is.
func Fault(err error) *wire.Fault {
	if f, ok := errors.AsType[*wire.Fault](err); ok {
		return f
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.fault()
	}
	code := wire.CodeInternal
	if errors.Is(err, errors.ErrUnsupported) {
		code = wire.CodeUnsupported
	}
	return &wire.Fault{Code: code, Op: "srt-windows", Detail: err.Error()}
}

// Fix gives the way out of an error, "" when there is none.
func Fix(err error) string { return Fault(err).Hint }
