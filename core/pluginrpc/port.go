package pluginrpc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"time"

	"google.golang.org/grpc/credentials"
)

// port is a port of the loopback address, which every process of the machine can connect to, behind go-plugin's AutoMTLS: each side makes
// a certificate for this one session. Ours goes to the peer in its environment, the peer's comes on the pipe that it has from us; no
// secret crosses. Who has neither key gets no further than the handshake.
type port struct {
	low, high int
	self      tls.Certificate
	peer      *x509.Certificate // after address
}

// envCertificate is go-plugin's name for the certificate that the peer lets in.
const envCertificate = "PLUGIN_CLIENT_CERT"

// blocks are the ports that a peer may take, in the order of choice. The system gives out none of them by itself, and there are two so
// that the ports which commands may reach leave one of them alone.
var blocks = [...][2]int{{20000, 24999}, {30000, 32499}}

// onPort gets ready for a peer on a port that lies outside avoid.
func onPort(avoid [2]int) (*port, error) {
	for _, b := range blocks {
		if avoid[1] < b[0] || avoid[0] > b[1] {
			self, err := certificate(x509.ExtKeyUsageClientAuth)
			return &port{low: b[0], high: b[1], self: self}, err
		}
	}
	return nil, malformed("the ports %d-%d leave none for srt itself", avoid[0], avoid[1])
}

func (p *port) give(cmd *exec.Cmd, theirs *os.File) {
	cmd.Stdin = theirs
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.self.Certificate[0]})
	cmd.Env = append(cmd.Env, envCertificate+"="+string(public), "PLUGIN_MIN_PORT="+strconv.Itoa(p.low), "PLUGIN_MAX_PORT="+strconv.Itoa(p.high))
}

func (p *port) address(network, address, certificate string) (net.Addr, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp" || at.Addr() != netip.AddrFrom4([4]byte{127, 0, 0, 1}) || int(at.Port()) < p.low || int(at.Port()) > p.high {
		return nil, elsewhere()
	}
	der, err := base64.RawStdEncoding.DecodeString(certificate)
	if err == nil {
		p.peer, err = x509.ParseCertificate(der)
	}
	if err != nil {
		return nil, malformed("the peer has no certificate to be known by")
	}
	return net.TCPAddrFromAddrPort(at), nil
}

func (p *port) creds(int) credentials.TransportCredentials {
	only := x509.NewCertPool()
	only.AddCert(p.peer)
	return credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{p.self}, RootCAs: only, ServerName: certified, MinVersion: tls.VersionTLS13})
}

func (p *port) end() {}

// certified is the name in go-plugin's certificates.
const certified = "localhost"

// certificate makes a key that never leaves this process, and a certificate for it.
func certificate(use x509.ExtKeyUsage) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	t := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: certified}, DNSNames: []string{certified},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(30, 0, 0), // a session has no end of its own
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{use},
		BasicConstraintsValid: true, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
