// Package view is the file policy of one command in the form that the init and the supervisor apply: resolved paths to mount, names
// that must not come into being. It is data only: package fileplan makes it (on the host, before bwrap starts), packages mounts and
// bwrap turn it into mounts, package supervise judges names by it. It must never touch the file system.
package view

// View is handed from `srt-linux launch` to the init in an anonymous file. Every path is absolute, clean and free of symbolic links
// in all its components at the time of planning; the init resolves it again without following any (a link there was planted since).
// Mount steps are applied in the order of their paths, parents first; for one path the order is Write, Reopen, ReadOnly, Hide.
type View struct {
	Unrestricted bool     `json:"unrestricted"` // filesystem.disabled: the tree stays as it is
	Write        []Target `json:"write"`        // trees and files that stay writable
	Reopen       []Target `json:"reopen"`       // readable again inside a hidden directory, not writable
	ReadOnly     []Target `json:"readOnly"`     // protected inside a writable tree: a directory, a file, or a link itself
	Hide         []Target `json:"hide"`         // unreadable: directory or file
	Names        []Name   `json:"names"`        // what the supervisor must not let come into being (or be moved, or removed)
	CreateOnce   []Target `json:"createOnce"`   // allowWrite entries that do not exist yet; the parent directory does
	Cwd          string   `json:"cwd"`
	StartedNs    int64    `json:"startedNs"` // CLOCK_REALTIME when planning began; a directory born later was made by the run
}

// Target is one path of a View.
type Target struct {
	Path string `json:"path"`
	Rule string `json:"rule"` // settings entry or reason, for messages
	// Link: Path is itself a symbolic link. ReadOnly covers it; Reopen makes it again inside a hidden directory, where it leads to
	// what is re-opened under its real path (/lib64 inside a hidden "/").
	Link bool `json:"link"`
	Dir  bool   `json:"dir"`
}

// Name kinds.
const (
	// NamePath is one absolute path that must not be created, and, where it exists, not be renamed or removed, nor any directory above it.
	NamePath = "path"
	// NameGlob is an absolute pattern (core/pathrule's Glob) with the same meaning for everything that matches.
	NameGlob = "glob"
	// NameSequence is a relative sequence of components (".git/hooks"), protected in every directory that existed when the
	// command started; directories that the run made itself may hold it.
	NameSequence = "sequence"
)

// Name is one rule about names that must not come into being.
type Name struct {
	Kind string `json:"kind"`
	Path string `json:"path"`
	Tree bool   `json:"tree"` // everything below it too
	Git  bool   `json:"git"`  // a git-directory rule: a repository directory that the run made is free of it
	Rule string `json:"rule"`
}
