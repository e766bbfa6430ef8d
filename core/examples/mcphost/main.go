// Command mcphost starts an MCP server in the sandbox and speaks JSON-RPC with it over its standard streams, as a host for tools does.
//
//	mcphost -libexec /usr/local/libexec/srt SERVER [ARG…]
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/srt-dev/srt/core/sandbox"
)

func main() {
	libexec := flag.String("libexec", "", "directory of srt's programs")
	flag.Parse()
	if err := run(context.Background(), *libexec, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mcphost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, libexec string, server []string, out io.Writer) error {
	if len(server) == 0 {
		return errors.New("no server named")
	}
	// The server may read, and write below its working directory; it gets no network.
	cfg := sandbox.Config{Filesystem: sandbox.FilesystemConfig{AllowWrite: sandbox.Paths("."), DenyRead: sandbox.Paths("~/.ssh", "~/.aws")}}
	m, err := sandbox.New(ctx, cfg, sandbox.WithLibexec(libexec))
	if err != nil {
		return err
	}
	defer m.Close()
	cmd := m.Command(ctx, server[0], server[1:]...).With(sandbox.WithCommandID("mcp " + server[0]))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	answers := bufio.NewScanner(from)
	for id, method := range []string{"initialize", "tools/list"} {
		if err := json.NewEncoder(in).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "method": method}); err != nil {
			break // the server has ended: Wait says how
		}
		if !answers.Scan() {
			break
		}
		fmt.Fprintf(out, "%s: %s\n", method, answers.Text())
	}
	in.Close()
	err = cmd.Wait()
	for _, v := range m.Violations().ForKey(cmd.Key()) {
		fmt.Fprintln(out, "refused:", v.Line)
	}
	return err
}
