package main

import (
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/srt-dev/srt/core/launch"
	"github.com/srt-dev/srt/core/violation"
	"github.com/srt-dev/srt/core/wire"
)

const (
	// questionLimit is how long one question stays; then the answer is no.
	questionLimit = 30 * time.Second
	// askPatience is how long proxyd waits, as questions come one after the other.
	askPatience = 4 * questionLimit
	// maxQuestions bounds how often one command can make srt ask.
	maxQuestions = 30
)

// asker puts proxyd's questions to the user, one at a time.
type asker struct {
	run      *launch.Run
	settings string // the file that "save" writes
	turn     sync.Mutex
	answers  map[string]bool // what was settled for this run: host:port → allowed
	asked    int
}

func (a *asker) begin(r *launch.Run, j *job) {
	a.run, a.settings = r, j.ctx.SettingsPath
	if a.settings == "" {
		a.settings = defaultSettings(j.ctx.Home)
	}
}

// ask answers one question of proxyd. It never comes here for a host that a list denies.
func (a *asker) ask(q wire.Ask) bool {
	a.turn.Lock()
	defer a.turn.Unlock()
	target := net.JoinHostPort(strings.Trim(q.Host, "[]"), strconv.Itoa(q.Port))
	if allowed, settled := a.answers[target]; settled {
		return allowed
	}
	if a.asked++; a.asked > maxQuestions {
		if a.asked == maxQuestions+1 {
			say("no more questions: the command has made srt ask " + strconv.Itoa(maxQuestions) + " times")
		}
		return false
	}
	allow, keep := false, true
	asked := a.run.Borrow(func(tty int) { allow, keep = a.question(tty, target) })
	if !asked {
		return false // no terminal to ask on: not the user's word, so it is not kept
	}
	if keep {
		a.answers[target] = allow
	}
	return allow
}

// question asks until it understands the answer; silence is a no.
func (a *asker) question(tty int, target string) (allow, keep bool) {
	dropTyped(tty) // what was typed before the question was meant for the command
	writeAll(tty, "\nsrt: the command wants to reach "+printable(violation.Sanitise(target))+
		"\nsrt: allow it [o]nce, for this [r]un, [s]ave to settings, [d]eny? ")
	deadline := time.Now().Add(questionLimit)
	for {
		line, ok := readAnswer(tty, deadline)
		if !ok {
			writeAll(tty, "\nsrt: no answer: denied\n")
			return false, true
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "o", "once":
			return true, false
		case "r", "run":
			return true, true
		case "s", "save":
			if err := saveDomain(a.settings, target); err != nil {
				writeAll(tty, "srt: error: "+printable(err.Error())+"\nsrt: allowed for this run only\n")
			} else {
				writeAll(tty, "srt: saved to "+printable(a.settings)+"\n")
			}
			return true, true
		case "d", "deny", "n", "no":
			return false, true
		}
		writeAll(tty, "srt: o, r, s or d? ")
	}
}
