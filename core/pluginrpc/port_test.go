package pluginrpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

func TestPeerOnAPortThatDoesNotStart(t *testing.T) {
	elsewhere := wire.Fault{Code: wire.CodeMalformed, Detail: "the peer listens where it was not told to"}
	nameless := wire.Fault{Code: wire.CodeMalformed, Detail: "the peer has no certificate to be known by"}
	runStarts(t, true, map[string]wire.Fault{
		"listens on every address":            elsewhere,
		"listens on another loopback address": elsewhere,
		"listens by name":                     elsewhere,
		"listens outside of its ports":        elsewhere,
		"has no certificate":                  nameless,
		"has a broken certificate":            nameless,
		"shows another certificate":           {Code: wire.CodePeerGone, Detail: "the peer ended without an answer"},
	})
}

// What makes "shows another certificate" fail is the certificate.
func TestPeerIsKnownByItsCertificate(t *testing.T) {
	if d, err := startHelper(t, "shows its certificate", true).Describe(t.Context()); err != nil || d.Name != "fake" {
		t.Errorf("%+v, %v", d, err)
	}
}

// A process of the machine that finds the port gets nothing from it, and the session goes on.
func TestStrangersAtThePort(t *testing.T) {
	h := startHelper(t, "good", true)
	at := h.client.ReattachConfig().Addr.String()
	if host, _, err := net.SplitHostPort(at); err != nil || host != "127.0.0.1" {
		t.Fatalf("the peer listens on %s", at)
	}
	own, err := certificate(x509.ExtKeyUsageClientAuth)
	if err != nil {
		t.Fatal(err)
	}
	shown := h.way.(*port).self.Certificate // srt's certificate is in the peer's environment; its key is not
	client := func(certificates ...tls.Certificate) credentials.TransportCredentials {
		return credentials.NewTLS(&tls.Config{InsecureSkipVerify: true, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if len(certificates) == 0 {
				return &tls.Certificate{}, nil
			}
			return &certificates[0], nil
		}})
	}
	for name, creds := range map[string]credentials.TransportCredentials{
		"without TLS":                     insecure.NewCredentials(),
		"without a certificate":           client(),
		"with a certificate of its own":   client(own),
		"with srt's and a key of its own": client(tls.Certificate{Certificate: shown, PrivateKey: own.PrivateKey}),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := grpc.NewClient("passthrough:///"+at, grpc.WithTransportCredentials(creds))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for _, method := range []string{"/" + helperService + "/" + oneshot.VerbDescribe, "/plugin.GRPCController/Shutdown", "/grpc.health.v1.Health/Check"} {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				out := new(wrapperspb.BytesValue)
				if err := c.Invoke(ctx, method, wrapperspb.Bytes(nil), out); err == nil || len(out.Value) != 0 || ctx.Err() != nil {
					t.Errorf("%s gives %q, %v", method, out.Value, err)
				}
				cancel()
			}
		})
	}
	t.Run("in silence, many", func(t *testing.T) {
		for range 50 {
			c, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		if _, err := h.Describe(t.Context()); err != nil {
			t.Errorf("the session ended: %v", err)
		}
	})
	if d, err := h.Describe(t.Context()); err != nil || d.Name != "fake" {
		t.Errorf("afterwards the session gives %+v, %v", d, err)
	}
	select {
	case <-h.Done():
		t.Error("a stranger ended the peer")
	default:
	}
}

func TestPeerOnAPortInheritsNothing(t *testing.T) {
	t.Setenv("GODEBUG", "x=y")
	t.Setenv("SSLKEYLOGFILE", "/tmp/keys")
	d, err := startHelper(t, "good", true).Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range d.Features {
		switch f {
		case "env PATH", "env SystemRoot", "env SystemDrive", "env USERPROFILE", "env SYSTEMROOT": // of the system
		case "env PLUGIN_UNIX_SOCKET_DIR", "own session": // elsewhere than on Windows
		default:
			if !strings.HasPrefix(f, "fd ") && !strings.HasPrefix(f, "env WINE") { // inherited, but see sealInherited; Wine's own
				got = append(got, f)
			}
		}
	}
	slices.Sort(got) // Windows sorts the environment
	want := []string{"args=serve", "env PLUGIN_CLIENT_CERT", "env PLUGIN_MAX_PORT", "env PLUGIN_MIN_PORT", "env PLUGIN_PROTOCOL_VERSIONS", "env SRT_SESSION"}
	if !slices.Equal(got, want) {
		t.Errorf("the peer inherited %q, want %q", got, want)
	}
}

// The ports that commands can reach are none of a peer's.
func TestPortsOfAPeer(t *testing.T) {
	for name, c := range map[string]struct{ avoid, want [2]int }{
		"nothing to avoid":       {[2]int{}, blocks[0]},
		"the usual proxy ports":  {[2]int{60080, 60089}, blocks[0]},
		"ports below":            {[2]int{19000, 19999}, blocks[0]},
		"ports that overlap":     {[2]int{19990, 20000}, blocks[1]},
		"ports in the middle":    {[2]int{22000, 22009}, blocks[1]},
		"the whole second block": {[2]int{25000, 40000}, blocks[0]},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := onPort(c.avoid)
			if err != nil || [2]int{p.low, p.high} != c.want {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
	_, err := onPort([2]int{1024, 65535})
	if f, ok := errors.AsType[*wire.Fault](err); !ok || f.Detail != "the ports 1024-65535 leave none for srt itself" {
		t.Errorf("with nothing left: %v", err)
	}
}

// Where proxyd has no channel a descriptor is refused, not dropped.
func TestNoDescriptorsOnAPort(t *testing.T) {
	p := startProxy(t, "good", true)
	err := p.Call(t.Context(), wire.ProxyCommand{Op: wire.OpAttach, Attach: &wire.Attach{CommandID: "1"}}, 0)
	if f, ok := errors.AsType[*wire.Fault](err); !ok || f.Code != wire.CodeUnsupported || f.Detail != "no descriptor can be handed to proxyd on this way" {
		t.Errorf("got %v", err)
	}
}

// A peer that is killed is told as gone, and a session that ends leaves none.
func TestPeerOnAPortEnds(t *testing.T) {
	h := startHelper(t, "good", true)
	pid := h.Pid()
	at := h.client.ReattachConfig().Addr.String()
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.Done()
	if _, err := h.Describe(t.Context()); err == nil || !strings.Contains(err.Error(), "the peer ended without an answer") {
		t.Errorf("a peer that was killed gives %v", err)
	}
	if alive(pid) {
		t.Error("it is still there")
	}
	// Whoever takes its port afterwards is asked nothing.
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		if c, err := l.Accept(); err == nil {
			c.Close()
			t.Error("somebody connected to a process that took the port")
		}
	}()
	if d, err := h.Describe(t.Context()); err == nil {
		t.Errorf("a process that took the port is believed: %+v", d)
	}
	l.Close()
	<-asked
}
