// Package sbpltest is a model of Seatbelt for tests: it reads a profile and answers whether an operation would be allowed. What the
// model takes for a fact is listed in docs/macos.md, with where it comes from and how certain it is. Where the sources disagree (the
// order of rules), it offers every reading, and a profile is right only when it means the same under all of them. A profile that
// macOS would refuse, or that holds a rule which never matches, is an error. No program that runs commands may import it.
package sbpltest
