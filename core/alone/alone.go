// Package alone makes a program that imports it run Go code on one processor at a time, from before other packages are initialised. It
// must never import anything: packages without imports come first, in the order of their paths, and once the runtime has spread
// its work to a second processor, taking that away costs some dozens of new pages.
package alone

import "runtime"

func init() { runtime.GOMAXPROCS(1) }
