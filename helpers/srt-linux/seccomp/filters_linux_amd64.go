package seccomp

import (
	"embed"
	"fmt"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/rules"
)

//go:embed filters/amd64/*.bpf
var filters embed.FS

var native = rules.AMD64

func embedded(variant string) ([]byte, error) {
	b, err := filters.ReadFile("filters/amd64/" + variant + ".bpf")
	if err != nil {
		return nil, fmt.Errorf("no filter named %q (a bug, please report): %w", variant, err)
	}
	return b, nil
}
