// Command testrunner runs shell lines as tests, all at once, each with a network of its own: an argument is NAME=HOST[,HOST…]=LINE.
//
//	testrunner -libexec /usr/local/libexec/srt 'unit==go test ./...' 'fetch=example.com:443=./fetch.sh'
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/srt-dev/srt/core/sandbox"
)

func main() {
	libexec := flag.String("libexec", "", "directory of srt's programs")
	flag.Parse()
	failed, err := run(context.Background(), *libexec, flag.Args(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrunner:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, libexec string, tests []string, out io.Writer) (failed int, err error) {
	m, err := sandbox.New(ctx, sandbox.Config{}, sandbox.WithLibexec(libexec))
	if err != nil {
		return 0, err
	}
	defer m.Close()
	var (
		wg      sync.WaitGroup
		results = make([]string, len(tests))
		ok      = make([]bool, len(tests))
	)
	for i, t := range tests {
		part := strings.SplitN(t, "=", 3)
		if len(part) < 3 {
			return 0, fmt.Errorf("%q is not NAME=HOSTS=LINE", t)
		}
		name, line := part[0], part[2]
		var lists sandbox.NetworkLists
		if part[1] != "" {
			lists.AllowedDomains = strings.Split(part[1], ",")
		}
		if err := m.RegisterNetworkLists(name, lists); err != nil {
			return 0, err
		}
		wg.Go(func() {
			defer m.UnregisterNetworkLists(name)
			text, err := m.Shell(ctx, line).With(sandbox.WithCommandID(name)).CombinedOutput()
			ok[i] = err == nil
			results[i] = name + ": ok\n"
			if err != nil {
				results[i] = fmt.Sprintf("%s: FAIL: %v\n%s\n", name, err, m.Annotate(name, string(text)))
			}
		})
	}
	wg.Wait()
	for i := range tests {
		io.WriteString(out, results[i])
		if !ok[i] {
			failed++
		}
	}
	return failed, nil
}
