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
	ScanDepth    int      `json:"scanDepth"`    // how deep protected names were looked for below each writable tree
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
	Dir  bool `json:"dir"`
}

// Name kinds. "Comes into being" means by any road: open with O_CREAT, mkdir, mknod, link, symlink, rename onto it, bind of a socket,
// and rename of a directory that carries it along to its place. Names are judged by where the parent directory really is. They count
// below Write and CreateOnce targets only: elsewhere nothing can be made anyway.
const (
	// NamePath is one absolute path. It must not come into being; while it exists it must not be renamed, removed or replaced, nor may
	// any directory above it be renamed or removed. No symbolic link may come into being at a directory above it.
	NamePath = "path"
	// NameGlob is an absolute pattern (core/pathrule's Glob). What it matches must not come into being, nor a symbolic link at its
	// LiteralBase or a directory above that. What matched at the start has a NamePath of its own.
	NameGlob = "glob"
	// NameSequence is a relative sequence of names (".git/hooks"). It must not come into being, counted from any directory that is a
	// Write target or below one and was not born after StartedNs (an unknown birth counts as before); that includes the last name when
	// only it is missing, and a symbolic link at any of its names. What exists may be removed or renamed, unless a NamePath says no.
	// With Git, a ".git" that is a directory born after StartedNs is free of it.
	NameSequence = "sequence"
	// NameGitDir is a git directory that existed. A name directly in it that pathrule.GitMayChange does not allow and Open does not
	// list must not come into being, be renamed or removed. What is deeper inside is not its business.
	NameGitDir = "gitdir"
)

// Name is one rule about names that must not come into being.
type Name struct {
	Kind string   `json:"kind"`
	Path string   `json:"path"`
	Tree bool     `json:"tree"`           // everything below it too
	Git  bool     `json:"git"`            // NameSequence: begins with ".git"
	Open []string `json:"open,omitempty"` // NameGitDir: names that the settings lift, and the same with ".lock"
	Rule string   `json:"rule"`
}

// ProcParts are the parts of /proc that act on the whole machine; whatever the policy says, they are read-only. A uid 0 caller passes their
// permission checks, and some are open to everybody.
var ProcParts = []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "pressure"}

// ProcHidden are the files of /proc that show what belongs to the caller outside and to no namespace: the names of its keys.
var ProcHidden = []string{"keys"}
