package oneshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

type fakeHelper struct{ err error }

func (f fakeHelper) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Version: wire.Version, Name: "fake", Features: []string{}}, f.err
}

func (f fakeHelper) Check(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	return wire.CheckReport{Version: wire.Version, Items: []wire.CheckItem{{Name: "userns", State: wire.CheckPass}}}, f.err
}

func (f fakeHelper) Prepare(_ context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	return wire.LaunchPlan{Version: wire.Version, Argv: req.Command.Argv, Env: []string{}, Descriptors: []wire.Descriptor{},
		Warnings: []string{}, Notes: []string{}}, f.err
}

type duplex struct {
	in  *bytes.Reader
	out bytes.Buffer
}

func (d *duplex) Read(b []byte) (int, error)  { return d.in.Read(b) }
func (d *duplex) Write(b []byte) (int, error) { return d.out.Write(b) }

func frame(kind byte, body string) []byte {
	b := append([]byte{kind}, binary.BigEndian.AppendUint32(nil, uint32(len(body)))...)
	return append(b, body...)
}

func TestServe(t *testing.T) {
	describe := string(mustEncode(t, wire.DescribeRequest{Version: wire.Version}))
	for name, tc := range map[string]struct {
		verb     string
		in       []byte
		err      error
		wantKind byte
		want     string // part of the answer
	}{
		"describe answers":                   {VerbDescribe, frame('Q', describe), nil, 'A', `"name":"fake"`},
		"check answers":                      {VerbCheck, frame('Q', string(mustEncode(t, wire.CheckRequest{Version: wire.Version}))), nil, 'A', `"state":"PASS"`},
		"plan answers":                       {VerbPlan, frame('Q', string(mustEncode(t, emptyRequest("true")))), nil, 'A', `"argv":["true"]`},
		"a fault keeps its code":             {VerbDescribe, frame('Q', describe), &wire.Fault{Code: wire.CodePolicy, Op: "x", Detail: "y"}, 'F', `"code":"policy"`},
		"another error is internal":          {VerbDescribe, frame('Q', describe), errors.New("boom"), 'F', `"code":"internal"`},
		"an unknown verb is refused":         {"destroy", frame('Q', describe), nil, 'F', "no such verb"},
		"no request is refused":              {VerbPlan, nil, nil, 'F', "the peer ended without an answer"},
		"an answer is not a request":         {VerbPlan, frame('A', describe), nil, 'F', "an answer where a request belongs"},
		"rubbish is refused":                 {VerbPlan, []byte("GET / HTTP/1.1\r\n\r\n"), nil, 'F', "does not speak in frames"},
		"half a request is refused":          {VerbPlan, frame('Q', describe)[:9], nil, 'F', "in the middle of a message"},
		"1 GiB is refused before it is read": {VerbPlan, []byte{'Q', 0x40, 0, 0, 0}, nil, 'F', "at most 16777216"},
		"another version is refused":         {VerbDescribe, frame('Q', `{"version":99}`), nil, 'F', `"code":"version"`},
		"an unknown key is refused":          {VerbDescribe, frame('Q', `{"version":1,"denyRaed":[]}`), nil, 'F', "unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &duplex{in: bytes.NewReader(tc.in)}
			_ = Serve(t.Context(), d, fakeHelper{tc.err}, tc.verb)
			kind, payload, err := readFrame(&d.out)
			if err != nil {
				t.Fatal(err)
			}
			if kind != tc.wantKind || !strings.Contains(string(payload), tc.want) {
				t.Fatalf("answer %c %s, want %c with %q", kind, payload, tc.wantKind, tc.want)
			}
		})
	}
}

func mustEncode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := wire.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func emptyRequest(argv ...string) wire.LaunchRequest {
	return wire.LaunchRequest{Version: wire.Version, CommandID: "1",
		Command: wire.Command{Argv: argv, Env: []string{}, PassFDs: []int{}, IgnoredSignals: []int{}},
		Files: wire.FilePolicy{DenyRead: []wire.PathEntry{}, AllowRead: []wire.PathEntry{}, AllowWrite: []wire.PathEntry{},
			DenyWrite: []wire.PathEntry{}, Protected: []wire.Protected{}},
		Network: wire.NetPolicy{Mirrors: []string{}},
		Process: wire.ProcPolicy{AllowUnixSockets: []wire.PathEntry{}, AllowMachLookup: []string{}}}
}
