// Package settings reads a settings file exactly as it is written, or refuses it with the place, the key and the right form.
// It must never guess: an unknown, repeated or wrongly cased key, a value of another type and a key that asks for a protection
// which this version does not have are errors, because each of them could turn a deny list into nothing.
//
// What the entries mean is the business of core/policy.
//
// github.com/tailscale/hujson parses the text: it keeps the offset of every value (so that an error can name line and column) and
// knows JSON with comments and trailing commas, which encoding/json does not.
package settings
