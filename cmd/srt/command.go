package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shells understand -c LINE as users expect it.
var shells = []string{"bash", "zsh", "dash"}

// argv is what the sandbox executes, and text is the command as the user wrote it, for messages and attribution.
func (o *options) argv(getenv func(string) string) (argv []string, text string) {
	switch {
	case o.isLine:
		return []string{shell(getenv("SHELL")), "-c", o.line}, o.line
	case len(o.command) == 1 && strings.ContainsAny(o.command[0], " \t\r\n\v\f"):
		return []string{shell(getenv("SHELL")), "-c", o.command[0]}, o.command[0]
	}
	return o.command, joinWords(o.command)
}

const shownLength = 120 // characters

// shell is the user's own when it is one of shells, else the first that is there.
func shell(users string) string {
	if filepath.IsAbs(users) && slices.Contains(shells, filepath.Base(users)) && executable(users) {
		return users
	}
	if executable("/bin/bash") {
		return "/bin/bash"
	}
	return "/bin/sh"
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

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
