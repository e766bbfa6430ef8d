// Package session keeps one helper and one proxyd for many commands. It starts both once, watches them, and turns a request into a
// running command that nothing but bwrap and the init stand before. It must never run a command when one of them is gone, never replace
// one by something weaker, and never leave a process, a socket or a directory behind, also when the program around it is killed.
//
// The kernel kills helper, proxyd and wrappers when the thread that started them ends, so a session starts everything on one thread of
// its own that lives as long as the session.
//
// It imports golang.org/x/sys for anonymous files and pidfds.
package session
