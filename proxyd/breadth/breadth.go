// Package breadth decides how many processors proxyd runs on. One is enough for a command that opens a connection now and then, and costs
// a third less for each: with more, every step of a connection wakes a second thread that finds nothing to do. Work that can use them gets
// all. It must never be needed for correctness.
package breadth

import (
	"runtime"
	"sync/atomic"
)

var narrow atomic.Bool

// Narrow makes the program run on one processor until Widen.
func Narrow() {
	runtime.GOMAXPROCS(1)
	narrow.Store(true)
}

// Widen gives the program every processor that it may have. It costs nothing where that is so already.
func Widen() {
	if narrow.Load() && narrow.CompareAndSwap(true, false) {
		runtime.SetDefaultGOMAXPROCS()
	}
}
