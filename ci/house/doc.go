// Package house checks the rules of this repository that a compiler does not: who may import whom, which packages are pure, one
// package comment each, where unsafe may stand, how long a file may be. A check reads a source tree and returns findings; the
// tests run every check on this tree and on small bad trees, because a check that cannot fail protects nothing.
// It must never change a file; goldens are rewritten only by "go test -update".
package house
