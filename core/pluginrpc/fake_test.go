//go:build unix

package pluginrpc

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/oneshot/peertest"
	"github.com/srt-dev/srt/core/wire"
)

func init() { runtime.LockOSThread() }

// The fake peers and the fake host are this test binary under another name: the environment is built for a peer, so the name is all
// that a test can tell it.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	switch {
	case strings.HasPrefix(name, "fake-helper-"):
		os.Exit(exitStatus(helperPeer(strings.TrimPrefix(name, "fake-helper-"))))
	case strings.HasPrefix(name, "fake-proxyd-"):
		name = strings.TrimPrefix(name, "fake-proxyd-")
		os.Exit(exitStatus(ServeProxy(func(w Words) error { return proxyPeer(name, w) })))
	case name == "fake-host":
		host(os.Args[1], os.Args[2])
	}
	os.Exit(m.Run())
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
	path := filepath.Join(t.TempDir(), "fake-"+name)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// helperPeer behaves as name says, from its start or to each request.
func helperPeer(name string) error {
	dir := os.Getenv(plugin.EnvUnixSocketDir)
	line := func(network, addr string) { fmt.Printf("1|%d|%s|%s|grpc\n", wire.Version, network, addr) }
	listen := func() net.Listener {
		os.Mkdir(dir, 0o700)
		l, err := net.Listen("unix", filepath.Join(dir, "s"))
		if err != nil {
			os.Exit(7)
		}
		return l
	}
	switch name {
	case "good":
		return ServeHelper(selfDescribing{})
	case "ends at once":
		return nil
	case "says nothing":
		time.Sleep(time.Hour)
	case "says rubbish":
		fmt.Println("Segmentation fault (core dumped)")
		time.Sleep(time.Hour)
	case "says too much":
		for {
			fmt.Print(strings.Repeat("x", 1<<16))
		}
	case "speaks another version":
		fmt.Printf("1|2|unix|%s/s|grpc\n", dir)
		time.Sleep(time.Hour)
	case "listens elsewhere":
		line("unix", "/tmp/s")
		time.Sleep(time.Hour)
	case "listens on a port":
		line("tcp", "127.0.0.1:9")
		time.Sleep(time.Hour)
	case "listens nowhere":
		line("unix", dir+"/s")
		time.Sleep(time.Hour)
	case "never speaks":
		l := listen()
		line("unix", l.Addr().String())
		time.Sleep(time.Hour)
	case "speaks plain HTTP":
		l := listen()
		line("unix", l.Addr().String())
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
		line("unix", dir+"/s")
		c.Wait()
		return nil
	case "other process":
		l := listen()
		go func() {
			time.Sleep(20 * time.Second)
			os.Exit(1)
		}()
		g := grpc.NewServer()
		g.RegisterService(&helperDesc, selfDescribing{})
		return g.Serve(l)
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

// selfDescribing tells what it inherited.
type selfDescribing struct{}

func (selfDescribing) Describe(context.Context) (wire.Description, error) {
	d := wire.Description{Version: wire.Version, Name: "fake", Features: []string{"args=" + strings.Join(os.Args[1:], " ")}}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		d.Features = append(d.Features, "env "+name)
	}
	in, err := io.ReadAll(os.Stdin)
	d.Features = append(d.Features, fmt.Sprintf("stdin=%q,%v", in, err))
	for fd := 5; fd < 300; fd++ {
		if target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && strings.HasPrefix(target, "/tmp/") {
			d.Features = append(d.Features, "fd "+target)
		}
	}
	if sid, err := unix.Getsid(0); err == nil && sid == os.Getpid() {
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
	if !bad {
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
	h, err := StartHelper(context.Background(), Options{Path: helper})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	p, err := StartProxy(context.Background(), Options{Path: proxy})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println(h.Pid(), p.Pid())
	time.Sleep(time.Hour)
}
