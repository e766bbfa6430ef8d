package pathrule

import "hash/maphash"

// dirIndex is what one directory holds. It is looked at for a few thousand names of maybe many more, for which a map would be several
// times as large, and memory that is touched for the first time costs more than anything that is done with it.
type dirIndex struct {
	seed  maphash.Seed
	names []byte   // of each entry its Kind, the length of its name, and the name
	at    []uint32 // by hash: where in names an entry begins, plus 1; 0 for none. A power of two, and half of it is free
}

// someNames is room for the names of a large directory, in bytes. What is not used of it is never touched.
const someNames = 64 << 10

// indexDir lists dir; nil when it cannot be listed, or is empty.
func indexDir(fs FS, dir string) *dirIndex {
	x := &dirIndex{seed: maphash.MakeSeed(), names: make([]byte, 0, someNames)}
	n, fits := 0, true
	err := fs.ReadDir(dir, func(name []byte, kind Kind) {
		fits = fits && len(name) <= 0xff && len(x.names) < 1<<31
		x.names = append(append(x.names, byte(kind), byte(len(name))), name...)
		n++
	})
	if err != nil || n == 0 || !fits {
		return nil
	}
	size := 2
	for size < 2*n {
		size *= 2
	}
	x.at = make([]uint32, size)
	for i := 0; i < len(x.names); i += 2 + int(x.names[i+1]) {
		x.at[x.slot(x.name(i))] = uint32(i) + 1
	}
	return x
}

// name gives the name of the entry that begins at i.
func (x *dirIndex) name(i int) []byte { return x.names[i+2:][:x.names[i+1]] }

// slot gives where in at name stands, or belongs.
func (x *dirIndex) slot(name []byte) int {
	last := len(x.at) - 1
	s := int(maphash.Bytes(x.seed, name)) & last
	for x.at[s] != 0 && string(x.name(int(x.at[s]-1))) != string(name) {
		s = (s + 1) & last
	}
	return s
}

// kind is Missing for what the directory does not hold.
func (x *dirIndex) kind(name string) Kind {
	at := x.at[x.slot([]byte(name))]
	if at == 0 {
		return Missing
	}
	return Kind(x.names[at-1])
}
