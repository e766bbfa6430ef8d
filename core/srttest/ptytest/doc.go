// Package ptytest runs a program of a test on a pseudo-terminal, in a session of its own, as a person would who types. It is for tests only,
// and must never be imported by a program.
package ptytest
