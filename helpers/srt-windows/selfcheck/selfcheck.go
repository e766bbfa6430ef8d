// Package selfcheck proves, before each command and on the user's machine, that what srt relies on is so: a process that is started
// exactly as the command will be tries what must fail and what must work. What was not proven is a refusal; a promise of Windows, or of
// something that poses as Windows, is never taken for it. The judgement is pure; Try runs inside the sandbox.
package selfcheck

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Connection is one attempt to connect.
type Connection struct {
	Name string `json:"name"`
	To   string `json:"to"` // address:port
	UDP  bool   `json:"udp"`
	Open bool   `json:"open"` // must work
	// Elsewhere: there may be no road to it at all on this machine, and then nothing is proven by its failure.
	Elsewhere bool `json:"elsewhere"`
}

// File operations of a Touch. Each has its own right, and a write-restricted token must be refused all of them.
const (
	Create    = "create a file"
	Overwrite = "overwrite"
	Append    = "append to"
	Remove    = "remove"
	Move      = "rename"
	Attribute = "set attributes of"
	List      = "change the access list of"
	Own       = "take"
)

// Touch is one attempt on a file.
type Touch struct {
	Op   string `json:"op"`
	Path string `json:"path"`
	Open bool   `json:"open"` // must work
}

// Spec is what the process tries.
type Spec struct {
	Connections []Connection `json:"connections"`
	Touches     []Touch      `json:"touches"`
}

// Outcome of one attempt: "" when it worked, else the error's number and text.
type Outcome struct {
	Errno int    `json:"errno"`
	Text  string `json:"text"`
}

// Report is what came out, in the order of the Spec.
type Report struct {
	Connections []Outcome         `json:"connections"`
	Touches     []Outcome         `json:"touches"`
	Token       runas.TokenAnswer `json:"token"`
	JobLimits   int               `json:"jobLimits"`
	JobUI       int               `json:"jobUi"`
	JobError    string            `json:"jobError"`
}

// Place is where the attempts go.
type Place struct {
	Inside   netip.AddrPort // a listener in the proxy range
	Outside  netip.AddrPort // a listener on loopback outside it
	Loopback bool           // the install leaves loopback open
	Canary   string         // a folder that the Users group may change, with a file "file" in it
	Tmp      string         // the run's own folder
}

// Documentation addresses: nobody answers there, so an attempt harms nobody and succeeds nowhere.
const (
	nowhere4 = "192.0.2.1:443"
	nowhere6 = "[2001:db8::1]:443"
	nowhere  = "192.0.2.1:53"
)

// Plan gives the attempts.
func Plan(p Place) Spec {
	s := Spec{Connections: []Connection{
		{Name: "a proxy port", To: p.Inside.String(), Open: true},
		{Name: "a loopback port outside the proxy range", To: p.Outside.String(), Open: p.Loopback},
		{Name: "a loopback port outside the proxy range over IPv6", To: netip.AddrPortFrom(netip.IPv6Loopback(), p.Outside.Port()).String(), Elsewhere: true},
		{Name: "an address on the internet", To: nowhere4, Elsewhere: true},
		{Name: "an address on the internet over IPv6", To: nowhere6, Elsewhere: true},
		{Name: "a name server", To: nowhere, UDP: true, Elsewhere: true},
	}}
	file := p.Canary + `\file`
	for _, op := range []string{Overwrite, Append, Attribute, List, Own, Move, Remove} { // what would destroy the file comes last
		s.Touches = append(s.Touches, Touch{Op: op, Path: file})
	}
	s.Touches = append(s.Touches, Touch{Op: Create, Path: p.Canary + `\new`}, Touch{Op: Create, Path: p.Tmp + `\srt-check`, Open: true})
	if p.Loopback { // nobody need listen there, and a refusal would prove nothing
		s.Connections = slices.Delete(s.Connections, 2, 3)
	}
	return s
}

// Windows errors that mean "you may not".
const (
	wsaAccess    = 10013
	wsaNoFamily  = 10047 // no socket of this kind can be made at all
	accessDenied = 5
)

const elsewhereHint = "run srt-windows status as an administrator; if it finds nothing wrong, another product has taken over filtering: please report which"

// Judge looks at what came out. The items are all checks; the error is the first that failed, with its way out.
func Judge(s Spec, r Report, token winapi.TokenSpec, account, group sd.SID) ([]wire.CheckItem, error) {
	j := &judge{}
	if len(r.Connections) != len(s.Connections) || len(r.Touches) != len(s.Touches) {
		return nil, &problem.Error{Code: problem.Failed, Op: "self-check", Detail: "the answer does not fit the question (a bug, please report)"}
	}
	if d := runas.CheckToken(token, r.Token.Facts(), account, group); d != "" {
		j.fail("token", problem.Token, "the command's token is not the one that was asked for: "+d, "this Windows cannot confine the command; please report its version")
	} else {
		j.pass("token", "write-restricted, no privileges")
	}
	if r.JobError != "" {
		j.fail("job", problem.Job, "the command is in no job: "+r.JobError, "please report the version of Windows")
	} else if d := runas.CheckJob(winapi.JobSpec{Limits: uint32(r.JobLimits), UI: uint32(r.JobUI)}); d != "" {
		j.fail("job", problem.Job, "the job is not the one that was asked for: "+d, "please report the version of Windows")
	} else {
		j.pass("job", "ends with srt")
	}
	j.connections(s, r)
	j.touches(s, r)
	return j.items, j.first
}

type judge struct {
	items []wire.CheckItem
	first error
}

func (j *judge) pass(name, detail string) {
	j.items = append(j.items, wire.CheckItem{Name: name, State: wire.CheckPass, Detail: detail})
}

func (j *judge) fail(name string, code problem.Code, detail, fix string) {
	j.items = append(j.items, wire.CheckItem{Name: name, State: wire.CheckFail, Detail: detail, Fix: fix})
	if j.first == nil {
		j.first = &problem.Error{Code: code, Op: "self-check", Path: name, Detail: detail, Fix: fix}
	}
}

func (j *judge) connections(s Spec, r Report) {
	blocked := 0
	for i, c := range s.Connections {
		o := r.Connections[i]
		switch {
		case c.Open && o.Errno == 0 && o.Text == "":
			j.pass("fence", c.Name+" is reached")
		case c.Open:
			j.fail("fence", problem.FenceShut, c.Name+" is not reached: "+o.Text, "srt-windows install")
		case o.Errno == wsaAccess:
			blocked++
			j.pass("fence", c.Name+" is blocked")
		case c.Elsewhere && (o.Errno == wsaNoFamily || o.Errno >= 10049 && o.Errno <= 10065 && o.Errno != 10060 && o.Errno != 10061):
			j.pass("fence", c.Name+" is not reachable from this machine now")
		case o.Errno == 0 && o.Text == "":
			j.fail("fence", problem.FenceOpen, c.Name+" was reached", "srt-windows install")
		default:
			j.fail("fence", problem.FenceOpen, c.Name+" was tried and not blocked: "+o.Text, elsewhereHint)
		}
	}
	if blocked == 0 {
		j.fail("fence", problem.FenceOpen, "no attempt was blocked, so the fence is not proven", "connect the machine to a network, or install without --allow-loopback")
	}
}

func (j *judge) touches(s Spec, r Report) {
	for i, t := range s.Touches {
		o := r.Touches[i]
		switch {
		case t.Open && o.Errno == 0 && o.Text == "":
			j.pass("files", "the command's own folder can be written")
		case t.Open:
			j.fail("files", problem.WriteOpen, fmt.Sprintf("the command's own folder %q cannot be written: %s", t.Path, o.Text), "srt-windows install")
		case o.Errno == accessDenied:
			j.pass("files", "refused: "+t.Op+" what only the Users group may change")
		default:
			text := o.Text
			if text == "" {
				text = "it worked"
			}
			j.fail("files", problem.WriteOpen, fmt.Sprintf("to %s what only the Users group may change was not refused: %s", t.Op, text),
				"this Windows does not hold a restricted token to its limits; please report its version")
		}
	}
}

// Try makes the attempts; it runs inside the sandbox.
func Try(api winapi.Prober, s Spec) Report {
	r := Report{Connections: []Outcome{}, Touches: []Outcome{}}
	for _, c := range s.Connections {
		to, err := netip.ParseAddrPort(c.To)
		if err == nil {
			err = api.Dial(to, c.UDP)
		}
		r.Connections = append(r.Connections, outcome(err))
	}
	for _, t := range s.Touches {
		r.Touches = append(r.Touches, outcome(api.Touch(t.Op, t.Path)))
	}
	facts, err := api.OwnToken()
	if err != nil {
		facts = winapi.TokenFacts{}
	}
	r.Token = runas.Answer(facts)
	job, err := api.OwnJob()
	if err != nil {
		r.JobError = err.Error()
	}
	r.JobLimits, r.JobUI = int(job.Limits), int(job.UI)
	return r
}

func outcome(err error) Outcome {
	if err == nil {
		return Outcome{}
	}
	o := Outcome{Text: strings.ToValidUTF8(err.Error(), "?")}
	if e, ok := errors.AsType[winapi.Errno](err); ok {
		o.Errno = int(e)
	}
	return o
}
