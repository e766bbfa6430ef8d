package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/srt-dev/srt/core/policy"
	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// controlTarget is the part of a run that the control channel acts on.
type controlTarget interface {
	Configure(cfg wire.ProxyConfig)
	End(reason *wire.Fault)
}

// openControl checks the descriptor of --control-fd; nil when there is none.
func openControl(o *options) (*os.File, error) {
	if o.controlFD < 0 {
		return nil, nil
	}
	if !isReadable(o.controlFD) {
		return nil, &usageError{"descriptor " + strconv.Itoa(o.controlFD) + " of --control-fd is not open for reading",
			"open it in the shell: srt --control-fd " + strconv.Itoa(o.controlFD) + " … " + strconv.Itoa(o.controlFD) + "<pipe"}
	}
	return os.NewFile(uintptr(o.controlFD), "control channel"), nil
}

// follow reads the control channel until it ends: each line is a whole settings object and replaces the one before. Only what
// concerns the network reaches a command that runs. A channel that ends before its first line ends the command, because
// whoever should have steered it is gone.
func (j *job) follow(channel io.Reader, run controlTarget, w *watcher) {
	r := bufio.NewReaderSize(channel, 64<<10)
	for n := 0; ; {
		line, long, err := readLine(r, settings.MaxBytes)
		if text := bytes.TrimSpace(line); len(text) > 0 || long {
			n++
			switch cfg, ignore, bad := j.reconfigure(text, long); {
			case bad != nil:
				say("control channel: invalid line " + strconv.Itoa(n) + ": " + bad.Error() + ": the settings before it stay in force")
			default:
				w.store.SetIgnore(ignore)
				run.Configure(cfg)
			}
		}
		if err != nil {
			if n == 0 {
				run.End(&wire.Fault{Code: wire.CodePeerGone, Op: "read the control channel", Detail: "it ended before its first line"})
			}
			return
		}
	}
}

// reconfigure judges one line exactly as a settings file.
func (j *job) reconfigure(line []byte, long bool) (wire.ProxyConfig, map[string][]string, error) {
	if long {
		return wire.ProxyConfig{}, nil, errors.New("it is over " + strconv.Itoa(settings.MaxBytes) + " bytes long")
	}
	f, err := settings.ParseLine(line)
	if err != nil {
		return wire.ProxyConfig{}, nil, err
	}
	p, err := policy.Resolve(f, j.ctx)
	if err != nil {
		return wire.ProxyConfig{}, nil, err
	}
	return j.proxyConfig(p), p.IgnoreViolations(), nil
}

// readLine reads up to a line end or the end. What is over limit is read and dropped.
func readLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			long, line = true, nil
		} else if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
