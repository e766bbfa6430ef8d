// Package violation keeps what a sandbox refused and puts it into words.
//
// Targets, program names and reasons may be chosen by the command that is being watched. The package must never let such a text reach
// a terminal, a log or a model as anything but one harmless line, and a slow reader must never hold up whoever reports.
package violation
