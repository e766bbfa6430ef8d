package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// load runs the load generator, outside (prefix empty) or in the sandbox.
func (b *bench) load(prefix []string, kind, target string, clients int) (result, error) {
	argv := append(append([]string{}, prefix...), b.self, "client", kind, target, strconv.Itoa(clients), b.span().String())
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = b.dir
	c.Env = withoutProxies(os.Environ())
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return result{}, fmt.Errorf("%s of %d clients: %w: %s", kind, clients, err, bytes.TrimSpace(stderr.Bytes()))
	}
	var r result
	if err := json.Unmarshal(out, &r); err != nil {
		return result{}, fmt.Errorf("%s: %w in %q", kind, err, out)
	}
	if r.Errors > 0 {
		return result{}, fmt.Errorf("%s of %d clients: %d errors", kind, clients, r.Errors)
	}
	return r, nil
}

func withoutProxies(env []string) []string {
	var out []string
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !strings.HasSuffix(strings.ToLower(name), "_proxy") {
			out = append(out, e)
		}
	}
	return out
}

// rates measures one kind of load for each number of clients, in the sandbox and directly.
func (b *bench) rates(name, unit, kind string, target func(*origins) string, clients []int) error {
	o, err := serve()
	if err != nil {
		return err
	}
	defer o.close()
	inside := b.sandbox(o.settings())
	for _, n := range clients {
		s := newSeries(fmt.Sprintf("%s, %d at once", name, n), unit, "direct")
		for r := range b.rounds(5) {
			var got [2]float64
			for i := range 2 {
				which := (i + r) % 2
				one, err := b.load([][]string{inside, nil}[which], kind, target(o), n)
				if err != nil {
					return err
				}
				got[which] = one.PerSecond
			}
			s.add(got[0], got[1])
		}
		b.report.add(s)
	}
	return nil
}

func (b *bench) connect() error {
	return b.rates("new CONNECT tunnels", "/s", "connect", func(o *origins) string { return o.echo.Addr().String() }, []int{1, 64})
}

func (b *bench) keepAlive() error {
	return b.rates("HTTP keep-alive requests", "/s", "keepalive", func(o *origins) string { return o.http.Addr().String() }, []int{1, 64})
}

// domains measures what a long list of allowed domains adds to a request.
func (b *bench) domains() error {
	o, err := serve()
	if err != nil {
		return err
	}
	defer o.close()
	s := newSeries("HTTP keep-alive request, 10,000 domains allowed", "µs", "three domains")
	few, many := b.sandbox(o.settings()), b.sandbox(o.settings(manyDomains(10_000)...))
	err = inTurn(b.rounds(5), func(sandboxed bool) (cost, error) {
		argv := few
		if sandboxed {
			argv = many
		}
		one, err := b.load(argv, "keepalive", o.http.Addr().String(), 1)
		return cost{wallMs: 1e6 / one.PerSecond}, err
	}, s, newSeries("", "", ""))
	b.report.add(s)
	return err
}

func manyDomains(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("*.zone%d.host%d.example", i%97, i))
	}
	return list
}

// bulk compares the sandbox with one splice relay outside.
func (b *bench) bulk() error {
	o, err := serve()
	if err != nil {
		return err
	}
	defer o.close()
	inside := b.sandbox(o.settings())
	s := newSeries("bulk through CONNECT", "GB/s", "one splice relay")
	for r := range b.rounds(5) {
		var got [2]float64
		for i := range 2 {
			which := (i + r) % 2
			target := []string{o.bulk.Addr().String(), o.relay.Addr().String()}[which]
			one, err := b.load([][]string{inside, nil}[which], "bulk", target, 1)
			if err != nil {
				return err
			}
			got[which] = one.PerSecond
		}
		s.add(got[0], got[1])
	}
	b.report.add(s)
	return nil
}
