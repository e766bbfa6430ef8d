package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Bounds of a settings file.
const (
	MaxBytes   = 4 << 20
	MaxEntries = 100_000 // values in all lists and objects together
	MaxDepth   = 16      // of nesting
)

// DefaultName is the name of the settings file in the home directory.
const DefaultName = ".srt-settings.json"

// Load reads the settings file at path. A file that is missing, empty or not valid is an error; every error is an *Error.
func Load(path string) (*File, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	return parse(path, text)
}

// LoadDefault reads DefaultName in the home directory. Only when nothing at all has that name it gives the built-in defaults
// (no network, no writes, all reads), whose Source is "".
func LoadDefault(home string) (*File, error) {
	if !filepath.IsAbs(home) {
		return nil, &Error{Problem: "the home directory is not known, so neither is the settings file", Hint: "set HOME or name the file with --settings"}
	}
	path := filepath.Join(home, DefaultName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) { // Lstat: a link that leads nowhere is a mistake, not the wish for defaults
		return &File{}, nil
	}
	return Load(path)
}

// ParseLine reads one JSON object of the control channel. The error, an *Error, has no file.
func ParseLine(line []byte) (*File, error) {
	if len(line) > MaxBytes {
		return nil, tooLarge("")
	}
	return parse("", line)
}

func readBounded(path string) ([]byte, error) {
	fail := func(op string, err error) error {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err // the path stands in front already
		}
		return &Error{File: path, Problem: fmt.Sprintf("%s the settings file: %v", op, err), Hint: "name a readable file with --settings"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fail("open", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fail("stat", err)
	}
	if info.IsDir() {
		return nil, fail("read", errors.New("it is a directory"))
	}
	size := max(0, min(info.Size(), MaxBytes))
	text := make([]byte, 0, size+2) // one more byte to see the end, one for the parser's line end
	for {
		if len(text) > MaxBytes {
			return nil, tooLarge(path)
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return nil, fail("read", err)
		}
	}
}

func tooLarge(path string) error {
	return &Error{File: path, Problem: fmt.Sprintf("the settings are larger than %d MiB", MaxBytes>>20), Hint: "shorten the lists with wildcards"}
}
