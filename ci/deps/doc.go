// Package deps keeps what each program links: one golden list a program and operating system, so that a new dependency is a line in
// a review, and a table of what a program must never link. "go test -update" rewrites the lists.
package deps
