package sandbox

import (
	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// Config says what commands may do. It is a settings file: the same keys, in Go. Its zero value allows reading, and nothing else.
type Config = settings.File

// Parts of a Config.
type (
	NetworkConfig    = settings.Network
	FilesystemConfig = settings.Filesystem
	PathEntry        = settings.PathEntry
	MitmProxy        = settings.MitmProxy
	ParentProxy      = settings.ParentProxy
	GitConfig        = settings.Git
	WindowsConfig    = settings.Windows
)

// NetworkLists are network lists of one command, beside those of the Config. Config first: a deniedDomains entry there cannot be lifted,
// and strictAllowlist makes them void.
type NetworkLists struct {
	AllowedDomains []string
	DeniedDomains  []string
}

// CheckReport says which protections hold on this machine.
type CheckReport = wire.CheckReport

// CheckItem is one of them.
type CheckItem = wire.CheckItem

// States of a CheckItem.
const (
	CheckPass = wire.CheckPass
	CheckWeak = wire.CheckWeak
	CheckFail = wire.CheckFail
)

// Fault is an error of srt itself: what failed, on which thing, why, and the way out (Hint).
type Fault = wire.Fault

// LoadConfig reads a settings file. A file that is missing or not valid is an error that names line and key.
func LoadConfig(path string) (Config, error) {
	f, err := settings.Load(path)
	if err != nil {
		return Config{}, err
	}
	return *f, nil
}

// ParseConfig reads one JSON object of settings.
func ParseConfig(text []byte) (Config, error) {
	f, err := settings.ParseLine(text)
	if err != nil {
		return Config{}, err
	}
	return *f, nil
}

// Paths makes entries of a file list of plain strings.
func Paths(paths ...string) []PathEntry {
	entries := make([]PathEntry, len(paths))
	for i, p := range paths {
		entries[i].Path = p
	}
	return entries
}
