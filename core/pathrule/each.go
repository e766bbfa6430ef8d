package pathrule

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Concurrent is implemented by an FS whose ReadDir may be called from several goroutines at once; long walks then use more than one.
type Concurrent interface{ ConcurrentReadDir() }

// worthSplitting is the number of directories from which a second thread pays.
const worthSplitting = 64

// each calls f for 0..n-1, in order, or all at once where fs allows that and it pays.
func each(fs FS, n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), 4)
	if _, ok := fs.(Concurrent); !ok || n < worthSplitting || workers < 2 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(8)) - 8
				if i >= n {
					return
				}
				for j := i; j < min(i+8, n); j++ {
					f(j)
				}
			}
		})
	}
	wg.Wait()
}
