package violation

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

const (
	kept      = 100  // violations that a store keeps
	keyLength = 100  // characters of an attribution key that count
	commands  = 1000 // ended commands whose late violations are still attributed
)

// Record is one stored violation. Every text in it is sanitised, but for Key and Command, which are the embedder's own.
type Record struct {
	Time      time.Time
	Key       string // attribution key; only its first 100 characters count
	Command   string // text of the command, "" when the command is unknown
	Line      string
	Violation wire.Violation
}

// Store keeps the last 100 violations and counts all. The zero value is ready. All methods may be called from everywhere at once.
type Store struct {
	mu      sync.Mutex
	records []Record // oldest first
	total   int
	ignore  map[string][]string
	known   map[string]command // by command id
	order   []string           // command ids, oldest first
	readers map[*Subscription]struct{}
}

type command struct{ key, text string }

// Begin tells the store what a command id stands for. key "" means that the text is the key.
func (s *Store) Begin(commandID, key, text string) {
	if key == "" {
		key = text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]command{}
	}
	if _, again := s.known[commandID]; !again {
		if len(s.order) == commands {
			delete(s.known, s.order[0])
			s.order = slices.Delete(s.order, 0, 1)
		}
		s.order = append(s.order, commandID)
	}
	s.known[commandID] = command{key, text}
}

// SetIgnore replaces the rules for violations that are neither stored nor counted: part of a command's text, or "*" → parts of lines.
func (s *Store) SetIgnore(rules map[string][]string) {
	copied := make(map[string][]string, len(rules))
	for k, v := range rules {
		copied[k] = slices.Clone(v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ignore = copied
}

// Add stores one violation and tells the subscribers; false when a rule says to ignore it. It never waits for a reader.
func (s *Store) Add(v wire.Violation) bool {
	id := v.CommandID
	r := Record{Line: Line(v), Violation: clean(v), Time: time.UnixMilli(v.TimeMs)}
	if v.TimeMs == 0 {
		r.Time = time.Now()
		r.Violation.TimeMs = r.Time.UnixMilli()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.known[id]
	if ok {
		r.Key, r.Command = c.key, c.text
	} else {
		r.Key = r.Violation.CommandID
	}
	if Ignored(s.ignore, r.Command, r.Line) {
		return false
	}
	if len(s.records) == kept {
		s.records = slices.Delete(s.records, 0, 1)
	}
	s.records = append(s.records, r)
	s.total += r.Violation.Count
	for sub := range s.readers {
		sub.offer(r)
	}
	return true
}

// Ignored reports whether the rules name a line of a command with the given text, "" when it is unknown.
func Ignored(rules map[string][]string, command, line string) bool {
	for pattern, parts := range rules {
		if pattern != "*" && (command == "" || !strings.Contains(command, pattern)) {
			continue
		}
		for _, part := range parts {
			if strings.Contains(line, part) {
				return true
			}
		}
	}
	return false
}

// Last gives at most n of the newest violations, oldest first; all that are kept when n is negative.
func (s *Store) Last(n int) []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 0 || n > len(s.records) {
		n = len(s.records)
	}
	return slices.Clone(s.records[len(s.records)-n:])
}

// ForKey gives the kept violations of one attribution key, oldest first.
func (s *Store) ForKey(key string) []Record {
	key = keyOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Record
	for _, r := range s.records {
		if keyOf(r.Key) == key {
			out = append(out, r)
		}
	}
	return out
}

// Count is how many are kept, Total how many there were, repeated ones each time. Clear does not change Total.
func (s *Store) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.records)
}

// Total: see Count.
func (s *Store) Total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Clear forgets the kept violations.
func (s *Store) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = nil
}

// KeyOf gives the part of an attribution key that counts.
func KeyOf(key string) string { return keyOf(key) }

// keyOf gives the part of a key that counts.
func keyOf(key string) string {
	if len(key) <= keyLength {
		return key
	}
	n := 0
	for i := range key {
		if n == keyLength {
			return key[:i]
		}
		n++
	}
	return key
}
