// Command mkprng writes bcryptprimitives.dll with the one export that Go programs need (ProcessPrng), forwarded to the random numbers
// of advapi32, for versions of Wine that have no such library. It is for tests under Wine only and is part of no release.
//
//	mkprng OUT.dll
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
)

const (
	library = "bcryptprimitives.dll"
	export  = "ProcessPrng"
	target  = "ADVAPI32.SystemFunction036"

	sectionRVA   = 0x1000
	alignment    = 0x200
	directory    = 40 // size of an export directory
	optionalSize = 240
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: mkprng OUT.dll")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], image(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "mkprng:", err)
		os.Exit(1)
	}
}

// image gives a 64-bit PE library of one section that holds nothing but its export table.
func image() []byte {
	section, used := exports()
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				panic(err) // a bytes.Buffer takes everything
			}
		}
	}
	dos := make([]byte, 0x80)
	copy(dos, "MZ")
	binary.LittleEndian.PutUint32(dos[0x3c:], uint32(len(dos)))
	put(dos, []byte("PE\x00\x00"))
	put(uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(optionalSize), uint16(0x2022)) // amd64, one section, executable, large, DLL

	put(uint16(0x20b), uint8(1), uint8(0), uint32(0), uint32(len(section)), uint32(0), uint32(0), uint32(sectionRVA)) // PE32+, no code, no entry point
	put(uint64(0x180000000), uint32(0x1000), uint32(alignment))                                                       // base and alignments
	put(uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0))                                  // versions
	put(uint32(2*sectionRVA), uint32(alignment), uint32(0), uint16(3), uint16(0x160))                                 // image and header size, console, may be moved
	put(uint64(0x100000), uint64(0x1000), uint64(0x100000), uint64(0x1000), uint32(0), uint32(16))                    // stack, heap, sixteen directories
	put(uint32(sectionRVA), uint32(used), make([]byte, 15*8))                                                         // the first directory is the export table

	put([]byte(".edata\x00\x00"), uint32(used), uint32(sectionRVA), uint32(len(section)), uint32(alignment), make([]byte, 12), uint32(0x40000040))
	b.Write(make([]byte, alignment-b.Len()))
	b.Write(section)
	return b.Bytes()
}

// exports gives the section and how much of it is used: directory, address table, name table, ordinals, texts. An address that points
// into the export section itself is a forwarder.
func exports() (section []byte, used int) {
	const (
		addresses = sectionRVA + directory
		names     = addresses + 4
		ordinals  = names + 4
		texts     = ordinals + 4
	)
	libraryAt := uint32(texts)
	exportAt := libraryAt + uint32(len(library)) + 1
	targetAt := exportAt + uint32(len(export)) + 1
	le := binary.LittleEndian
	for _, v := range []uint32{0, 0, 0, libraryAt, 1, 1, 1, addresses, names, ordinals, targetAt, exportAt, 0} {
		section = le.AppendUint32(section, v)
	}
	section = append(section, library+"\x00"+export+"\x00"+target+"\x00"...)
	used = len(section)
	return append(section, make([]byte, (alignment-used%alignment)%alignment)...), used
}
