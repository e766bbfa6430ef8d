package socks5

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"time"

	"github.com/srt-dev/srt/proxyd/limits"
)

// sshPort is where a refusal is told in the language of SSH: an SSH client behind a SOCKS ProxyCommand shows its user nothing of a SOCKS
// reply, but prints the reason of a disconnect.
const sshPort = 22

// goodbye is a connection to a server that says why it will not talk, and hangs up.
type goodbye struct{ said *bytes.Reader }

// newGoodbye holds an identification line and an unencrypted SSH_MSG_DISCONNECT (RFC 4253, 6 and 11.1).
func newGoodbye(reason string) *goodbye {
	const (
		msgDisconnect = 1
		notAllowed    = 1 // SSH_DISCONNECT_HOST_NOT_ALLOWED_TO_CONNECT
	)
	reason = printable(reason)
	payload := []byte{msgDisconnect}
	payload = binary.BigEndian.AppendUint32(payload, notAllowed)
	payload = binary.BigEndian.AppendUint32(payload, uint32(len(reason)))
	payload = append(payload, reason...)
	payload = binary.BigEndian.AppendUint32(payload, 0) // no language
	padding := 8 - (5+len(payload))%8
	if padding < 4 {
		padding += 8
	}
	b := []byte("SSH-2.0-srt\r\n")
	b = binary.BigEndian.AppendUint32(b, uint32(1+len(payload)+padding))
	b = append(append(b, byte(padding)), payload...)
	return &goodbye{bytes.NewReader(append(b, make([]byte, padding)...))}
}

// printable keeps what OpenSSH would not escape.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), limits.Reason)]
}

func (g *goodbye) Read(p []byte) (int, error)       { return g.said.Read(p) }
func (g *goodbye) Write(p []byte) (int, error)      { return len(p), nil }
func (g *goodbye) Close() error                     { return nil }
func (g *goodbye) CloseWrite() error                { return nil }
func (g *goodbye) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4zero} }
func (g *goodbye) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4zero} }
func (g *goodbye) SetDeadline(time.Time) error      { return nil }
func (g *goodbye) SetReadDeadline(time.Time) error  { return nil }
func (g *goodbye) SetWriteDeadline(time.Time) error { return nil }
