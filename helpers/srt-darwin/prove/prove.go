//go:build linux || darwin

package prove

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/srt-dev/srt/core/wire"
)

// Verb is the verb of our own binary under which the attempts are made, with the Stage as JSON behind it.
const Verb = "attempt"

// outcome is how one attempt ended.
type outcome struct {
	Name   string `json:"name"`
	Error  string `json:"error"`  // "" when it worked
	Policy bool   `json:"policy"` // refused with EPERM or EACCES, as a policy does
}

// Main makes every attempt of the stage and prints the outcomes as JSON.
func Main(stageJSON string) int {
	var s Stage
	if err := json.Unmarshal([]byte(stageJSON), &s); err != nil || s.Root == "" {
		fmt.Fprintln(os.Stderr, "srt: error: attempts are made by srt doctor only")
		return 125
	}
	out := make([]outcome, len(attempts))
	for i, a := range attempts {
		out[i].Name = a.name
		if err := a.do(s); err != nil {
			out[i].Error = err.Error()
			out[i].Policy = errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return 125
	}
	return 0
}

// Builder makes the plan for a request.
type Builder func(wire.LaunchRequest) (wire.LaunchPlan, error)

// Run makes the attempts with the limits that build plans, and once more without, and judges. self is our own binary.
func Run(self string, build Builder) []wire.CheckItem {
	free, _, err := series(self, nil)
	if err != nil {
		return []wire.CheckItem{broken("the attempts without a sandbox", err)}
	}
	bound, left, err := series(self, build)
	if err != nil {
		return []wire.CheckItem{broken("the attempts in a sandbox", err)}
	}
	items := judge(free, bound)
	after := wire.CheckItem{Name: "afterwards nothing has changed that must not", State: wire.CheckPass, Detail: "looked at from outside"}
	if left != nil {
		after.State, after.Detail, after.Fix = wire.CheckFail, left.Error(), reportIt
	}
	return append(items, after)
}

const reportIt = "do not rely on srt here; please report this with the whole output"

func broken(what string, err error) wire.CheckItem {
	return wire.CheckItem{Name: what, State: wire.CheckFail, Detail: err.Error(), Fix: reportIt}
}

// series makes the attempts on a new stage. left says what they changed of what must stay.
func series(self string, build Builder) (out []outcome, left, err error) {
	s, err := newStage()
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.startNeighbour(build); err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(s.Stage)
	if err != nil {
		return nil, nil, err
	}
	argv := []string{self, Verb, string(text)}
	req := s.request(argv, strconv.Itoa(s.Proxy))
	env := req.Command.Env
	if build != nil {
		p, err := build(req)
		if err != nil {
			return nil, nil, err
		}
		argv, env = p.Argv, p.Env
	}
	var stderr bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec // our own binary, or what our own plan says
	cmd.Env, cmd.Dir, cmd.Stderr = env, req.Command.Dir, &stderr
	stdout, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	if err := json.Unmarshal(stdout, &out); err != nil {
		return nil, nil, fmt.Errorf("read the outcomes: %w", err)
	}
	return out, s.untouched(), nil
}

// judge compares the outcomes with what must be. A refusal counts only when the attempt works without a sandbox.
func judge(free, bound []outcome) []wire.CheckItem {
	items := make([]wire.CheckItem, len(attempts))
	for i, a := range attempts {
		item := &items[i]
		*item = wire.CheckItem{Name: a.name, State: wire.CheckPass, Detail: "works"}
		if i >= len(free) || i >= len(bound) || free[i].Name != a.name || bound[i].Name != a.name {
			*item = broken(a.name, errors.New("no outcome"))
			continue
		}
		f, b := free[i], bound[i]
		if b.Error != "" {
			item.Detail = "refused: " + b.Error
		}
		switch {
		case a.works && b.Error != "":
			item.State, item.Fix = wire.CheckFail, reportIt
		case a.works:
		case b.Error == "":
			item.State, item.Detail, item.Fix = wire.CheckFail, "it worked", reportIt
		case !b.Policy:
			item.State, item.Detail = wire.CheckWeak, "failed, but not as a policy refuses: "+b.Error
		case f.Error != "":
			item.State, item.Detail = wire.CheckWeak, "proves nothing, because it fails without a sandbox too: "+f.Error
		}
	}
	return items
}

// Print writes a transcript that can be attached to a report, and says whether everything holds.
func Print(w io.Writer, system string, items []wire.CheckItem) bool {
	fmt.Fprintf(w, "srt-darwin on %s\n", system)
	good := true
	for _, i := range items {
		fmt.Fprintf(w, "%s  %s: %s\n", i.State, i.Name, i.Detail)
		if i.State == wire.CheckFail {
			good = false
		}
	}
	if good {
		fmt.Fprintln(w, "everything holds")
	} else {
		fmt.Fprintln(w, "srt does not hold what it promises here: "+reportIt)
	}
	return good
}
