package pluginrpc

import (
	"bytes"
	"context"
	"errors"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/srt-dev/srt/core/oneshot"
	"github.com/srt-dev/srt/core/wire"
)

const (
	helperService = "srt.Helper" // methods: the verbs of core/oneshot
	proxyService  = "srt.Proxy"
	converse      = "Converse"
)

// maxCall bounds one message of an RPC: the largest frame, or word to proxyd, and what gRPC puts around it.
const maxCall = max(wire.MaxMessage, wire.MaxProxyPiped) + 1024

// helperDesc is the service of a wire.Helper.
var helperDesc = grpc.ServiceDesc{
	ServiceName: helperService,
	HandlerType: (*wire.Helper)(nil),
	Methods:     []grpc.MethodDesc{method(oneshot.VerbDescribe), method(oneshot.VerbCheck), method(oneshot.VerbPlan)},
}

// method answers one verb. A Fault is an answer, not an error of the call.
func method(verb string) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: verb, Handler: func(srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := new(wrapperspb.BytesValue)
		if err := decode(in); err != nil {
			return nil, err
		}
		call := &exchange{in: *bytes.NewReader(in.Value)}
		var told *wire.Fault
		if err := oneshot.Serve(ctx, call, srv.(wire.Helper), verb); err != nil && !errors.As(err, &told) && call.out.Len() == 0 {
			return nil, err
		}
		return wrapperspb.Bytes(call.out.Bytes()), nil
	}}
}

// exchange is a request and its answer in memory.
type exchange struct {
	in  bytes.Reader
	out bytes.Buffer
}

func (e *exchange) Read(b []byte) (int, error)  { return e.in.Read(b) }
func (e *exchange) Write(b []byte) (int, error) { return e.out.Write(b) }

// Words is proxyd's end of the conversation with srt: each message is one word of wire/proxy.go. Recv gives io.EOF when srt has ended
// it. Send and Recv may be called at the same time, each by one goroutine.
type Words interface {
	Recv() ([]byte, error)
	Send([]byte) error
}

// proxyHandler serves the one conversation of a proxyd.
type proxyHandler interface {
	converse(Words) error
}

var proxyDesc = grpc.ServiceDesc{
	ServiceName: proxyService,
	HandlerType: (*proxyHandler)(nil),
	Streams: []grpc.StreamDesc{{StreamName: converse, ServerStreams: true, ClientStreams: true,
		Handler: func(srv any, stream grpc.ServerStream) error { return srv.(proxyHandler).converse(words{stream}) }}},
}

// words is one end of a stream; a grpc.ServerStream and a grpc.ClientStream have this in common.
type words struct {
	stream interface {
		SendMsg(any) error
		RecvMsg(any) error
	}
}

func (w words) Recv() ([]byte, error) {
	in := new(wrapperspb.BytesValue)
	err := w.stream.RecvMsg(in)
	return in.Value, err
}

func (w words) Send(b []byte) error { return w.stream.SendMsg(wrapperspb.Bytes(b)) }

// service makes go-plugin register or reach one of the services above.
type service struct {
	plugin.NetRPCUnsupportedPlugin
	desc *grpc.ServiceDesc
	impl any
}

func (s *service) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	g.RegisterService(s.desc, s.impl)
	return nil
}

func (s *service) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}
