// Package bpf reads, runs and prints the part of classic BPF that seccomp filters are made of. It is pure and is used by the
// generator and the tests only: it must never be the judge of a real call, and it refuses an instruction that it does not know.
package bpf
