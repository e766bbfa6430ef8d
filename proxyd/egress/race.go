package egress

import (
	"context"
	"net"
	"time"

	"github.com/srt-dev/srt/proxyd/limits"
)

// race dials the candidates with happy eyeballs: families alternate, and the next attempt starts when the last one failed or had
// limits.HeadStart. It returns the first connection, or the error of the first candidate.
func race(ctx context.Context, cands []candidate, dial func(context.Context, candidate) (net.Conn, error)) (net.Conn, candidate, error) {
	cands = alternate(cands)
	if len(cands) == 1 {
		c, err := dial(ctx, cands[0])
		return c, cands[0], err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		from int
		err  error
	}
	results := make(chan result, len(cands)) // room for everybody: nobody is left blocked
	start := func(i int) {
		go func() {
			c, err := dial(ctx, cands[i])
			results <- result{c, i, err}
		}()
	}
	errs := make([]error, len(cands))
	start(0)
	started, running := 1, 1
	timer := time.NewTimer(limits.HeadStart)
	defer timer.Stop()
	next := func() {
		if started < len(cands) {
			start(started)
			started++
			running++
			timer.Reset(limits.HeadStart)
		}
	}
	for running > 0 {
		select {
		case <-timer.C:
			next()
		case r := <-results:
			running--
			if r.err == nil {
				cancel()
				go func(left int) { // the losers
					for range left {
						if r := <-results; r.conn != nil {
							r.conn.Close()
						}
					}
				}(running)
				return r.conn, cands[r.from], nil
			}
			errs[r.from] = r.err
			next()
		}
	}
	return nil, candidate{}, errs[0]
}

// alternate changes the order to take turns between the families, beginning with that of the first address.
func alternate(cands []candidate) []candidate {
	var first, second []candidate
	for _, c := range cands {
		if c.addr.Is4() == cands[0].addr.Is4() {
			first = append(first, c)
		} else {
			second = append(second, c)
		}
	}
	out := make([]candidate, 0, len(cands))
	for i := range max(len(first), len(second)) {
		if i < len(first) {
			out = append(out, first[i])
		}
		if i < len(second) {
			out = append(out, second[i])
		}
	}
	return out
}
