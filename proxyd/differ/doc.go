// Package differ holds a test: the same requests go straight to an origin, through proxyd, and through tinyproxy, and both ends must see
// the same bytes. It has no code of its own.
package differ
