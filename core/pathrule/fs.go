package pathrule

// Kind is what a path is, the last component not followed.
type Kind uint8

// Kinds. Missing is also the answer for a path below a plain file and for one that the caller may not look at.
const (
	Missing Kind = iota
	File
	Dir
	Link
	Other // socket, FIFO, device
)

// FS is all that the rules see of a file system. Paths are absolute; every answer is about now, except BornAfterStart.
type FS interface {
	// Lstat looks at path without following its last component. The package calls it with parents that are directories.
	Lstat(path string) Kind
	// Readlink gives a link's text, "" when it cannot be read.
	Readlink(path string) string
	// ReadDir visits the entries of a directory, without "." and "..". name is valid during the call only. An error ends the listing;
	// the implementation decides which directories it refuses to list and tells its own user.
	ReadDir(path string, visit func(name []byte, kind Kind)) error
	// ReadFile gives the content of a small plain file, nil for anything else; it follows no link and never blocks.
	ReadFile(path string) []byte
	// BornAfterStart says whether path was made after the command started. Unknown is false, which protects.
	BornAfterStart(path string) bool
}

// Finder is implemented by an FS that can find a few names in a large directory without listing it.
type Finder interface {
	// Find is ReadDir, but may leave out entries that have none of the names; with dirs, only those that are no directories.
	Find(path string, names []string, dirs bool, visit func(name []byte, kind Kind)) error
}

// Searcher is implemented by an FS that knows whether the caller may search a directory, where everything inside is Missing if not, and
// whether the caller may change its mode.
type Searcher interface {
	MaySearch(dir string) bool
	MayChange(dir string) bool
}

// Options are the differences between systems. The zero value is Linux.
type Options struct {
	Dir  string // working directory; protected names above it do not count against it
	Home string // where the user's git configuration lies, "" when unknown
	// FoldCase: the file system ignores case.
	FoldCase bool
	// LateReads: read denials by pattern or of a missing path also cover what appears later (Seatbelt; not mounts).
	LateReads bool
}
