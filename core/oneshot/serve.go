package oneshot

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/srt-dev/srt/core/wire"
)

// Verbs of a helper binary. Each answers one request on RequestFD.
const (
	VerbLaunch   = "launch"   // LaunchRequest → LaunchPlan, then the process becomes the sandbox
	VerbPlan     = "plan"     // LaunchRequest → LaunchPlan
	VerbDescribe = "describe" // DescribeRequest → Description
	VerbCheck    = "check"    // CheckRequest → CheckReport
)

// ReadRequest reads the one request of a peer into req, a pointer to a request of core/wire. The error is a *wire.Fault.
// Helpers call it; verb launch does so by hand, the other verbs through ServeFD.
func ReadRequest(r io.Reader, req any) error {
	kind, payload, err := readFrame(r)
	if err != nil {
		return err
	}
	if kind != kindRequest {
		return &wire.Fault{Code: wire.CodeMalformed, Op: "read request", Detail: "an answer where a request belongs"}
	}
	return wire.DecodeText(payload, wire.MaxMessage, req)
}

// WriteAnswer sends answer, or failure as a Fault when it is not nil. Helpers call it once per request.
func WriteAnswer(w io.Writer, answer any, failure error) error {
	kind := byte(kindAnswer)
	if failure != nil {
		kind, answer = kindFault, AsFault(failure)
	}
	return writeMessage(w, kind, answer)
}

// AsFault finds the Fault in err, or makes one of CodeInternal.
func AsFault(err error) *wire.Fault {
	var f *wire.Fault
	if errors.As(err, &f) {
		return f
	}
	return &wire.Fault{Code: wire.CodeInternal, Op: "serve", Detail: err.Error()}
}

// ServeFD answers the one request on descriptor fd for verb (plan, describe or check) and closes it. The error is what
// the caller was told, or why it could not be told.
func ServeFD(fd int, h wire.Helper, verb string) error {
	conn := os.NewFile(uintptr(fd), "request")
	if conn == nil {
		return &wire.Fault{Code: wire.CodeMalformed, Op: "read request", Detail: "no descriptor"}
	}
	defer conn.Close()
	return Serve(context.Background(), conn, h, verb)
}

// Serve answers the one request on conn for verb.
func Serve(ctx context.Context, conn io.ReadWriter, h wire.Helper, verb string) error {
	answer, failure := dispatch(ctx, conn, h, verb)
	if err := WriteAnswer(conn, answer, failure); err != nil {
		return err
	}
	return failure
}

func dispatch(ctx context.Context, conn io.Reader, h wire.Helper, verb string) (any, error) {
	switch verb {
	case VerbPlan:
		var req wire.LaunchRequest
		if err := ReadRequest(conn, &req); err != nil {
			return nil, err
		}
		return h.Prepare(ctx, req)
	case VerbDescribe:
		var req wire.DescribeRequest
		if err := ReadRequest(conn, &req); err != nil {
			return nil, err
		}
		return h.Describe(ctx)
	case VerbCheck:
		var req wire.CheckRequest
		if err := ReadRequest(conn, &req); err != nil {
			return nil, err
		}
		return h.Check(ctx, req)
	}
	return nil, &wire.Fault{Code: wire.CodeMalformed, Op: "serve", Path: verb, Detail: "no such verb"}
}
