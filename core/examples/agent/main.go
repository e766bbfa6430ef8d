// Command agent runs shell lines from its standard input in the sandbox, as an agent runs the lines of a model, and answers each with
// what the model should see: status, stdout, and stderr with the violations behind it.
//
//	echo 'ls; curl https://example.com' | agent -libexec /usr/local/libexec/srt -settings srt.json
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/srt-dev/srt/core/sandbox"
)

func main() {
	libexec := flag.String("libexec", "", "directory of srt's programs")
	settings := flag.String("settings", "", "settings file; without it nothing but reading is allowed")
	flag.Parse()
	if err := run(context.Background(), *libexec, *settings, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, libexec, settings string, lines io.Reader, answers io.Writer) error {
	var cfg sandbox.Config
	if settings != "" {
		var err error
		if cfg, err = sandbox.LoadConfig(settings); err != nil {
			return err
		}
	}
	m, err := sandbox.New(ctx, cfg, sandbox.WithLibexec(libexec))
	if err != nil {
		return err
	}
	defer m.Close()
	in := bufio.NewScanner(lines)
	for n := 1; in.Scan(); n++ {
		if err := answer(ctx, m, fmt.Sprint("call ", n), in.Text(), answers); err != nil {
			return err
		}
	}
	return in.Err()
}

// answer runs one line; the error is for a sandbox that does not work, not for a line that fails.
func answer(ctx context.Context, m *sandbox.Manager, id, line string, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := m.Shell(ctx, line).With(sandbox.WithCommandID(id))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	status := "0"
	var exit *sandbox.ExitError
	switch {
	case errors.As(err, &exit):
		status = exit.String()
	case errors.Is(err, context.DeadlineExceeded):
		status = "timed out"
	case err != nil:
		return err
	}
	fmt.Fprintf(to, "status: %s\nstdout: %s\nstderr: %s\n", status, &stdout, m.Annotate(id, stderr.String()))
	return nil
}
