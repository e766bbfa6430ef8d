package main

import "strings"

// shells understand -c LINE as users expect it.
var shells = []string{"bash", "zsh", "dash"}

// argv is what the sandbox executes, and text is the command as the user wrote it, for messages and attribution.
func (o *options) argv(getenv func(string) string) (argv []string, text string) {
	switch {
	case o.isLine:
		return shellWords(getenv("SHELL"), o.line), o.line
	case len(o.command) == 1 && strings.ContainsAny(o.command[0], " \t\r\n\v\f"):
		return shellWords(getenv("SHELL"), o.command[0]), o.command[0]
	}
	return o.command, joinWords(o.command)
}

const shownLength = 120 // characters

// joinWords shows words as one line that a shell would split into them again.
func joinWords(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = w
		if w == "" || strings.ContainsAny(w, " \t\r\n\v\f\"'`$\\|&;<>()*?[]{}~#!^") {
			shown[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(shown, " ")
}

// shown is the command on one line of a terminal: of a script for the shell its first command.
func (o *options) shown(text string) string {
	first, _, cut := strings.Cut(strings.TrimSpace(text), "\n")
	if o.isLine || len(o.command) == 1 {
		before, _, more := strings.Cut(first, ";")
		first, cut = before, cut || more
	}
	if r := []rune(first); len(r) > shownLength {
		first, cut = string(r[:shownLength]), true
	}
	if cut {
		return strings.TrimSpace(first) + " …"
	}
	return first
}
