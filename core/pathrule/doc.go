// Package pathrule says what a file policy means: which operations on which paths it allows, and why. It is pure: it sees files only
// through the small interface FS, so the same rules are tested against what Linux, macOS and Windows enforce. It must never open,
// change or remember anything on a real file system, and its zero values deny.
//
// Paths are absolute, clean and separated by "/" on every system ("/a/b", "C:/a/b").
package pathrule
