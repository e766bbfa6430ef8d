// Package oneshot speaks the contract of core/wire with a process that is started for one question: the helper of this
// operating system, and proxyd. It must never look for a program on PATH, hand on the caller's environment, or wait for ever.
//
// A verb of the helper, on descriptor RequestFD (a stream socket pair):
//
//	srt → helper   one frame 'Q': LaunchRequest (verbs launch, plan), DescribeRequest (describe), CheckRequest (check)
//	helper → srt   one frame 'A': LaunchPlan, Description or CheckReport; or one frame 'F': Fault
//	               then the helper closes the descriptor: plan, describe and check end, launch becomes the sandbox
//
// A frame is one byte of kind, four bytes of length (big endian) and so many bytes of strict JSON, at most wire.MaxMessage.
//
// The verb enter of package entry is launch, started by bubblewrap: it answers from inside its sandbox's namespaces.
//
// Beside it the verb launch inherits ControlFD, the channel of wire/control.go, and hands it on to the init. proxyd inherits
// ProxyFD, the channel of wire/proxy.go. A Channel keeps the borders of messages and carries descriptors.
//
// It imports golang.org/x/sys for sendmsg with descriptors and for the Linux parent-death signal; helpers link this package, so
// nothing else may be added.
package oneshot
