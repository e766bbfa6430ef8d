// Package seccomp gives the system-call filter of a sandboxed command: BPF that was generated from the table in package rules and is
// embedded here, one program per architecture and variant. It only hands out programs; the init loads them, after no-new-privs
// and after the capabilities are gone. It must never build or change a program at run time, and has no program at all for an
// architecture that the table was not written for.
//
// With a supervisor (Options.Supervised) the filter has to be loaded with a listener. The calls that reach it are those that the
// table asks about and those that it refuses in a way worth telling: the supervisor answers every call that it does not perform
// itself with EPERM, and names it with CallName.
package seccomp
