//go:build linux || darwin

package prove

import (
	"errors"
	"os"
	"os/exec"
	"strconv"

	"github.com/srt-dev/srt/core/wire"
)

// neighbour is a process that waits until its standard input ends.
type neighbour struct {
	cmd   *exec.Cmd
	stdin *os.File // our end
}

// startNeighbour starts a command of its own under the stage's policy, which the attempts must not reach.
func (s *stage) startNeighbour(build Builder) error {
	req := s.request([]string{"/bin/cat"}, strconv.Itoa(s.Proxy))
	req.CommandID = "neighbour"
	plan := wire.LaunchPlan{Argv: req.Command.Argv, Env: req.Command.Env}
	if build != nil {
		var err error
		if plan, err = build(req); err != nil {
			return err
		}
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := exec.Command(plan.Argv[0], plan.Argv[1:]...) //nolint:gosec // what our own plan says
	cmd.Env, cmd.Dir, cmd.Stdin = plan.Env, req.Command.Dir, theirs
	if err := cmd.Start(); err != nil {
		return errors.Join(err, ours.Close())
	}
	s.neighbour = &neighbour{cmd, ours}
	s.Neighbour = cmd.Process.Pid
	return nil
}

// end ends it and leaves nothing. That it was killed is no error.
func (n *neighbour) end() error {
	if n == nil {
		return nil
	}
	err := n.stdin.Close()
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
	return err
}
