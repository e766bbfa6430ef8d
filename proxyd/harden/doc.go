// Package harden is what proxyd does to itself before it reads a word. It must never be left out by a main, and never fail silently.
package harden
