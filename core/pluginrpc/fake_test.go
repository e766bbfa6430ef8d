package pluginrpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

func init() { runtime.LockOSThread() }

// The fake peers and the fake host are this test binary under another name: the environment is built for a peer, so the name is all
// that a test can tell it.
func TestMain(m *testing.M) {
	if role, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(os.Args[0]), exe), "fake-"); ok {
		os.Exit(exitStatus(play(role)))
	}
	os.Exit(m.Run())
}

// play is a peer, or a program that starts some.
func play(role string) error {
	if name, ok := strings.CutPrefix(role, "helper-"); ok {
		return helperPeer(name)
	}
	if name, ok := strings.CutPrefix(role, "proxyd-"); ok {
		if err := standOnPort(); err != nil {
			return err
		}
		return ServeProxy(func(w Words) error { return proxyPeer(name, w) })
	}
	host(os.Args[1], os.Args[2])
	return nil
}

func exitStatus(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	return 0
}

// fake gives the path of this test binary under another name.
func fake(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path, err := another(t, self, "fake-"+name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// each runs f on every way to a peer that this system has.
func each(t *testing.T, f func(t *testing.T, byPort bool)) {
	if !overPort {
		t.Run("socket", func(t *testing.T) { f(t, false) })
	}
	t.Run("port", func(t *testing.T) { f(t, true) })
}

// helperPeer behaves as name says, from its start or to each request.
func helperPeer(name string) error {
	if done, err := startBadly(name); done {
		return err
	}
	if err := standOnPort(); err != nil {
		return err
	}
	switch name {
	case "good":
		return ServeHelper(selfDescribing{})
	case "serves something else":
		return serve(nameHelper, &service{desc: &grpc.ServiceDesc{ServiceName: "other.Service", HandlerType: (*any)(nil)}, impl: 1}, nil)
	}
	does, ok := peertest.Helper(name)
	if name == "sends 64 MiB" {
		does, ok = peertest.Behaviour{Answer: make([]byte, 64<<20)}, true
	}
	if !ok {
		return fmt.Errorf("panic: no behaviour %q", name)
	}
	misbehave := func(any, context.Context, func(any) error, grpc.UnaryServerInterceptor) (any, error) {
		does.Then.Do(os.Exit)
		return wrapperspb.Bytes(does.Answer), nil
	}
	return serve(nameHelper, &service{impl: 1, desc: &grpc.ServiceDesc{ServiceName: helperService, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: oneshot.VerbDescribe, Handler: misbehave}}}}, nil, grpc.MaxSendMsgSize(1<<30))
}

// say is the line with which a peer says where it listens.
func say(network, addr, certificate string) {
	fmt.Printf("1|%d|%s|%s|grpc|%s\n", wire.Version, network, addr, certificate)
}

// startBadly behaves as name says at the start, if that names such a behaviour.
func startBadly(name string) (done bool, err error) {
	dir := os.Getenv(plugin.EnvUnixSocketDir)
	switch name {
	case "ends at once":
		return true, nil
	case "says nothing":
	case "says rubbish":
		fmt.Println("Segmentation fault (core dumped)")
	case "says too much":
		for {
			fmt.Print(strings.Repeat("x", 1<<16))
		}
	case "speaks another version":
		fmt.Printf("1|2|unix|%s/s|grpc\n", dir)
	case "listens elsewhere":
		say("unix", "/tmp/s", "")
	case "listens on a port":
		say("tcp", "127.0.0.1:9", "")
	case "listens nowhere":
		say("unix", dir+"/s", "")
	case "never speaks":
		sayWhere(listen())
	case "speaks plain HTTP":
		l := listen()
		sayWhere(l)
		for {
			if c, err := l.Accept(); err == nil {
				io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			}
		}
	case "is another process":
		os.Mkdir(dir, 0o700)
		c := exec.Command("/proc/self/exe", dir)
		c.Args[0] = "fake-helper-other process"
		c.Env = []string{plugin.EnvUnixSocketDir + "=" + dir}
		c.Start()
		for {
			if _, err := os.Stat(dir + "/s"); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		say("unix", dir+"/s", "")
		c.Wait()
		return true, nil
	case "other process":
		l := listen()
		go func() {
			time.Sleep(20 * time.Second)
			os.Exit(1)
		}()
		g := grpc.NewServer()
		g.RegisterService(&helperDesc, selfDescribing{})
		return true, g.Serve(l)
	case "listens on every address":
		say("tcp", "0.0.0.0:20001", "AAAA")
	case "listens on another loopback address":
		say("tcp", "127.0.0.2:20001", "AAAA")
	case "listens by name":
		say("tcp", "localhost:20001", "AAAA")
	case "listens outside of its ports":
		say("tcp", "127.0.0.1:60080", "AAAA")
	case "has no certificate":
		say("tcp", "127.0.0.1:20001", "")
	case "has a broken certificate":
		say("tcp", "127.0.0.1:20001", "AAAA|true")
	case "shows its certificate", "shows another certificate":
		return true, serveAlone(name == "shows its certificate")
	default:
		return false, nil
	}
	time.Sleep(time.Hour)
	return true, nil
}

// listen listens as a peer is told to.
func listen() net.Listener {
	dir := os.Getenv(plugin.EnvUnixSocketDir)
	os.Mkdir(dir, 0o700)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if os.Getenv(envCertificate) != "" {
		l, err = listenOnPort()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(7)
	}
	return l
}

func listenOnPort() (l net.Listener, err error) {
	low, err := strconv.Atoi(os.Getenv("PLUGIN_MIN_PORT"))
	if err != nil {
		return nil, err
	}
	for port := low; port < low+100; port++ {
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			break
		}
	}
	return l, err
}

// sayWhere says where l listens, with some certificate where one is needed.
func sayWhere(l net.Listener) {
	shown := ""
	if l.Addr().Network() == "tcp" {
		c, err := certificate(x509.ExtKeyUsageServerAuth)
		if err != nil {
			os.Exit(7)
		}
		shown = base64.RawStdEncoding.EncodeToString(c.Certificate[0])
	}
	say(l.Addr().Network(), l.Addr().String(), shown)
}

// serveAlone serves on a port without go-plugin, with the certificate that it says or with another.
func serveAlone(honest bool) error {
	said, err := certificate(x509.ExtKeyUsageServerAuth)
	if err != nil {
		return err
	}
	used := said
	if !honest {
		if used, err = certificate(x509.ExtKeyUsageServerAuth); err != nil {
			return err
		}
	}
	l := listen()
	say("tcp", l.Addr().String(), base64.RawStdEncoding.EncodeToString(said.Certificate[0]))
	g := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{used}, MinVersion: tls.VersionTLS13})))
	well := health.NewServer()
	well.SetServingStatus(plugin.GRPCServiceName, grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(g, well)
	g.RegisterService(&helperDesc, selfDescribing{})
	return g.Serve(l)
}

// selfDescribing tells what it inherited.
type selfDescribing struct{}

func (selfDescribing) Describe(context.Context) (wire.Description, error) {
	d := wire.Description{Version: wire.Version, Name: "fake", Features: []string{"args=" + strings.Join(os.Args[1:], " ")}}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		d.Features = append(d.Features, "env "+name)
		if strings.Contains(value, "PRIVATE") {
			d.Features = append(d.Features, "a private key")
		}
	}
	if os.Getenv(envCertificate) == "" { // else it is the lifetime pipe
		in, err := io.ReadAll(os.Stdin)
		d.Features = append(d.Features, fmt.Sprintf("stdin=%q,%v", in, err))
	}
	for fd := 5; fd < 300; fd++ {
		if target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && strings.HasPrefix(target, "/tmp/") {
			d.Features = append(d.Features, "fd "+target)
		}
	}
	if leadsSession() {
		d.Features = append(d.Features, "own session")
	}
	return d, nil
}

func (selfDescribing) Check(ctx context.Context, _ wire.CheckRequest) (wire.CheckReport, error) {
	<-ctx.Done()
	return wire.CheckReport{}, ctx.Err()
}

func (selfDescribing) Prepare(_ context.Context, req wire.LaunchRequest) (wire.LaunchPlan, error) {
	if req.Command.Argv[0] == "bad" {
		return wire.LaunchPlan{}, &wire.Fault{Code: wire.CodePolicy, Op: "plan", Path: "bad", Detail: "no"}
	}
	return wire.LaunchPlan{Version: wire.Version, Argv: req.Command.Argv}, nil
}

// proxyPeer answers every command on the conversation, and every descriptor on the channel.
func proxyPeer(name string, w Words) error {
	says, then, bad := peertest.Proxy(name)
	send := func(e wire.ProxyEvent) {
		e.Version = wire.Version
		b, _ := wire.Encode(e)
		w.Send(b)
	}
	violation := func(format string, v ...any) {
		send(wire.ProxyEvent{Kind: wire.EventViolation, Violation: &wire.Violation{Target: fmt.Sprintf(format, v...), Count: 1}})
	}
	if !bad && os.Getenv(envCertificate) == "" {
		ch := oneshot.NewChannel(ChannelFD, wire.MaxProxyMessage)
		go func() {
			for {
				var cmd wire.ProxyCommand
				fds, err := ch.Recv(&cmd)
				if err != nil {
					return
				}
				violation("%s, %d descriptors", cmd.Op, len(fds))
				oneshot.CloseAll(fds)
				send(wire.ProxyEvent{Kind: wire.EventReady, Seq: cmd.Seq})
			}
		}()
	}
	for {
		b, err := w.Recv()
		if err != nil {
			return nil
		}
		var cmd wire.ProxyCommand
		if err := wire.Decode(b, wire.MaxProxyMessage, &cmd); err != nil {
			return err
		}
		if bad {
			for _, b := range says {
				w.Send(b)
			}
			then.Do(os.Exit)
			continue
		}
		switch {
		case cmd.Op == wire.OpAnswer:
			violation("answer %d %v", cmd.Answer.ID, cmd.Answer.Allow)
		case cmd.Op == wire.OpDetach:
			violation("detach %s", cmd.Detach)
			send(wire.ProxyEvent{Kind: wire.EventReady, Seq: cmd.Seq})
		case cmd.Config != nil && len(cmd.Config.AllowedDomains) > 0 && cmd.Config.AllowedDomains[0] == "bad":
			send(wire.ProxyEvent{Kind: wire.EventReady, Seq: cmd.Seq, Fault: &wire.Fault{Code: wire.CodePolicy, Op: "parse", Path: "bad", Detail: "not a domain"}})
		default:
			send(wire.ProxyEvent{Kind: wire.EventReady, Seq: cmd.Seq})
		}
	}
}

// host is an embedding program: it starts both peers, says who they are, and waits to be killed.
func host(helper, proxy string) {
	byPort := len(os.Args) > 3
	h, err := StartHelper(context.Background(), Options{Path: helper, byPort: byPort})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	p, err := StartProxy(context.Background(), Options{Path: proxy, byPort: byPort})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println(h.Pid(), p.Pid())
	time.Sleep(time.Hour)
}
