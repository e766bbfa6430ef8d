// Package pidfd signals a process that another one started, by a descriptor that keeps its number from meaning another process. It must
// never signal by a number without having looked by the descriptor.
//
// It imports golang.org/x/sys for the calls.
package pidfd
