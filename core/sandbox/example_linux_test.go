package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/srt-dev/srt/core/sandbox"
)

// libexec is the libexec/srt directory of an installation; the tests build their own.
func libexec() string { return os.Getenv("SRT_TEST_LIBEXEC") }

// A command runs as with os/exec; its exit status is an error of the same kind.
func Example() {
	ctx := context.Background()
	m, err := sandbox.New(ctx, sandbox.Config{}, sandbox.WithLibexec(libexec()))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	out, err := m.Command(ctx, "echo", "hello").Output()
	fmt.Printf("%s%v\n", out, err)

	err = m.Command(ctx, "sh", "-c", "exit 3").Run()
	var exit *sandbox.ExitError
	fmt.Println(errors.As(err, &exit) && exit.ExitCode() == 3)
	// Output:
	// hello
	// <nil>
	// true
}

// A model is told why something failed.
func ExampleManager_Annotate() {
	ctx := context.Background()
	m, err := sandbox.New(ctx, sandbox.Config{}, sandbox.WithLibexec(libexec()))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	var stderr bytes.Buffer
	cmd := m.Shell(ctx, "echo x > /etc/motd.new").With(sandbox.WithCommandID("tool call 17"))
	cmd.Stderr = &stderr
	err = cmd.Run()
	fmt.Println(err)
	text := m.Annotate("tool call 17", stderr.String())
	fmt.Println(text[bytes.IndexByte([]byte(text), '\n')+1:])
	// Output:
	// exit status 2
	//
	// <sandbox_violations>
	// deny file-write /etc/motd.new
	// </sandbox_violations>
}

// A Config may be replaced while commands run.
func ExampleManager_UpdateConfig() {
	ctx := context.Background()
	m, err := sandbox.New(ctx, sandbox.Config{}, sandbox.WithLibexec(libexec()))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	cfg := m.Config()
	cfg.Network.AllowedDomains = append(cfg.Network.AllowedDomains, "http://example.com/")
	fmt.Println(m.UpdateConfig(cfg) != nil) // a URL is no domain: the Config before stays in force
	cfg.Network.AllowedDomains = []string{"example.com"}
	fmt.Println(m.UpdateConfig(cfg))
	// Output:
	// true
	// <nil>
}
