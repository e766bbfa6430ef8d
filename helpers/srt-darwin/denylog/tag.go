package denylog

import (
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	tagHead  = "srt."
	maxID    = 100 // bytes of a command id
	maxWord  = 64  // bytes of a session id
	minWord  = 8
	wordSet  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	hintBugs = "(a bug, please report)"
)

// Tag is what the denials of one command carry: "srt.SESSION.COMMAND". The session id is random, so that no other sandbox on the machine
// ends a line with it; it is no secret from the command.
func Tag(sessionID, commandID string) (string, error) {
	if err := checkSession(sessionID); err != nil {
		return "", err
	}
	if commandID == "" || len(commandID) > maxID {
		return "", fmt.Errorf("the command id has %d bytes, 1 to %d are possible %s", len(commandID), maxID, hintBugs)
	}
	return tagHead + sessionID + "." + base64.RawURLEncoding.EncodeToString([]byte(commandID)), nil
}

func checkSession(id string) error {
	if len(id) < minWord || len(id) > maxWord || strings.Trim(id, wordSet) != "" {
		return fmt.Errorf("%q is not a session id: %d to %d letters and digits %s", id, minWord, maxWord, hintBugs)
	}
	return nil
}

// commandOf gives the command id of a tag of this session.
func commandOf(tag, sessionID string) (string, bool) {
	rest, ok := strings.CutPrefix(tag, tagHead+sessionID+".")
	if !ok {
		return "", false
	}
	id, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	return string(id), err == nil && len(id) > 0 && len(id) <= maxID
}
