//go:build cgo && libseccomp

// Command gen writes the embedded filters from the table in package rules, with libseccomp. It runs when the table changes
// (scripts/generate), never at build or run time, and is the only code of srt that uses cgo. libseccomp-golang is here because
// building BPF by hand is where sandboxes go wrong.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seccomp/libseccomp-golang"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/bpf"
	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/rules"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	dir := flag.String("dir", "filters", "directory of the filters")
	check := flag.Bool("check", false, "write nothing; fail when a file differs from what would be written")
	flag.Parse()
	major, minor, micro := seccomp.GetLibraryVersion()
	version := fmt.Sprintf("libseccomp %d.%d.%d\n", major, minor, micro)
	versionFile := filepath.Join(*dir, "generator.txt")
	if have, err := os.ReadFile(versionFile); *check && err == nil && string(have) != version {
		fmt.Printf("not compared: the filters are by %s, here is %s", have, version) // the tests compare them with the table anyway
		return
	}
	files := map[string][]byte{versionFile: []byte(version)}
	for _, a := range rules.Arches {
		for _, o := range rules.Variants() {
			p, err := program(a, o)
			if err != nil {
				log.Fatalf("%s %s: %v", a.Name, o.Name(), err)
			}
			base := filepath.Join(*dir, a.Name, o.Name())
			files[base+".bpf"] = bpf.Bytes(p)
			files[base+".txt"] = []byte(bpf.Print(p, rules.Names(a)))
		}
	}
	bad := false
	for path, want := range files {
		if *check {
			have, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(have, want) {
				bad = true
				log.Printf("%s is not what the table gives; run scripts/generate", path)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			log.Fatal(err)
		}
	}
	if bad {
		os.Exit(1)
	}
	fmt.Printf("%d files, %d variants for %d architectures\n", len(files), len(rules.Variants()), len(rules.Arches))
}
