package pluginrpc

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin"

	"github.com/srt-dev/srt/core/wire"
)

// VerbServe is the first argument of a peer that is to serve.
const VerbServe = "serve"

// Descriptors that a peer inherits.
const (
	LifetimeFD = 3 // ends with srt
	ChannelFD  = 4 // proxyd: the channel of wire/proxy.go
)

// Names of what a peer serves.
const (
	nameHelper = "helper"
	nameProxy  = "proxy"
)

// handshake keeps people from starting a peer by hand; it proves nothing.
var handshake = plugin.HandshakeConfig{ProtocolVersion: wire.Version, MagicCookieKey: "SRT_SESSION", MagicCookieValue: "srt"}

// maxLine bounds the line with which a peer says where it listens.
const maxLine = 1024

// readAddress reads that line: core version, version of the contract, network, address, protocol. The socket must lie in dir.
func readAddress(r io.Reader, dir string) (string, error) {
	line, err := bufio.NewReaderSize(r, maxLine).ReadSlice('\n')
	malformed := func(detail string) error {
		return &wire.Fault{Code: wire.CodeMalformed, Op: "start", Detail: detail}
	}
	switch {
	case err == bufio.ErrBufferFull: //nolint:errorlint // documented
		return "", malformed("the peer does not speak the protocol of a session")
	case err != nil:
		return "", err
	}
	part := strings.Split(strings.TrimSuffix(string(line), "\n"), "|")
	if len(part) < 5 || part[0] != strconv.Itoa(plugin.CoreProtocolVersion) || part[4] != string(plugin.ProtocolGRPC) {
		return "", malformed("the peer does not speak the protocol of a session")
	}
	if part[1] != strconv.Itoa(wire.Version) {
		return "", &wire.Fault{Code: wire.CodeVersion, Op: "start", Detail: fmt.Sprintf("the peer does not speak version %d", wire.Version),
			Hint: "install srt and its helpers from one build"}
	}
	if part[2] != "unix" || filepath.Dir(part[3]) != dir {
		return "", malformed("the peer listens where it was not told to")
	}
	return part[3], nil
}
