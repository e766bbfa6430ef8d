// Package denylog reads what Seatbelt writes to the unified log when it denies something, and knows our own denials by the tag that our
// profiles put behind them. It is pure. It must never believe anything that stands before the tag: process names and paths in
// a line are chosen by the command.
//
// The log is a lower bound: macOS leaves out denials of programs that are not its own, and puts equal ones together.
package denylog
