package pluginrpc

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin"

	"github.com/srt-dev/srt/core/wire"
)

// VerbServe is the first argument of a peer that is to serve.
const VerbServe = "serve"

// Descriptors that a peer inherits where the way is a socket. Where it is a port, the lifetime pipe is its standard input.
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

// maxLine bounds the line with which a peer says where it listens; a certificate is most of it.
const maxLine = 4096

// readAddress reads that line: core version, version of the contract, network, address, protocol, certificate.
func readAddress(r io.Reader, w way) (net.Addr, error) {
	line, err := bufio.NewReaderSize(r, maxLine).ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull: //nolint:errorlint // documented
		return nil, malformed("the peer does not speak the protocol of a session")
	case err != nil:
		return nil, err
	}
	part := strings.Split(strings.TrimSuffix(string(line), "\n"), "|")
	if len(part) < 5 || part[0] != strconv.Itoa(plugin.CoreProtocolVersion) || part[4] != string(plugin.ProtocolGRPC) {
		return nil, malformed("the peer does not speak the protocol of a session")
	}
	if part[1] != strconv.Itoa(wire.Version) {
		return nil, &wire.Fault{Code: wire.CodeVersion, Op: "start", Detail: fmt.Sprintf("the peer does not speak version %d", wire.Version),
			Hint: "install srt and its helpers from one build"}
	}
	return w.address(part[2], part[3], strings.Join(part[5:], "|"))
}
