package session

import "runtime"

// thread is an operating system thread that lives until stop.
type thread struct{ jobs chan func() }

func newThread() *thread {
	t := &thread{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for f := range t.jobs {
			f()
		}
	}()
	return t
}

// do runs f on the thread and waits for it.
func (t *thread) do(f func()) {
	done := make(chan struct{})
	t.jobs <- func() {
		defer close(done)
		f()
	}
	<-done
}

func (t *thread) stop() { close(t.jobs) }
