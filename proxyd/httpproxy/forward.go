package httpproxy

import (
	"net/http"
	"time"

	"github.com/elazarl/goproxy"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/gate"
)

// exchange is one plain request and its response. It is the request's http.ResponseWriter too (writer.go).
type exchange struct {
	http.ResponseWriter
	session *session
	request *http.Request
	target  target
	permit  *gate.Permit
	sender  *sender // the request body on its way, or nil

	protocol string // to change to, or ""
	from     *origin
	last     bool  // the origin connection is not used again
	length   int64 // of the response body, -1 when unknown
	broken   error // the origin's body ended early
}

type exchangeKey struct{}

// serve is the handler of net/http's server.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	s := sessionOf(r)
	if r.Method == http.MethodConnect {
		p.engine.ServeHTTP(w, r)
		if s.link != nil { // the client was gone before the tunnel stood
			s.link.Conn.Close()
		}
		return
	}
	x := &exchange{ResponseWriter: w, session: s, request: r, target: s.guard.target(), length: -1}
	if c := x.target.connection; len(c) > 0 {
		r.Header["Connection"] = c
	}
	if x.protocol = upgrades(r.Header); x.protocol != "" && r.ProtoAtLeast(1, 1) && r.Body == http.NoBody {
		p.upgrade(x)
		x.finish()
		return
	}
	x.protocol = ""
	if r.Body != http.NoBody { // the response may begin before the request has ended
		http.NewResponseController(w).EnableFullDuplex()
	}
	p.engine.ServeHTTP(x, r.WithContext(withExchange(r.Context(), x)))
	x.finish()
}

// admit is goproxy's request filter: it reads the destination, judges it, and answers by itself or lets the request go on to RoundTrip.
func (p *Proxy) admit(r *http.Request, ctx *goproxy.ProxyCtx) (*http.Request, *http.Response) {
	x := exchangeOf(r)
	if rep := p.judge(x, "http"); rep != nil {
		return r, rep.response(r)
	}
	ctx.RoundTripper = x
	return r, nil
}

// judge fills x.permit, or gives the answer for the client.
func (p *Proxy) judge(x *exchange, proto string) (rep *reply) {
	var err error
	if x.permit, err = p.gate.Judge(x.request.Context(), x.session.who(proto), x.target.dest); err != nil {
		r := replyFor(err, x.target.dest.String())
		rep = &r
	}
	return rep
}

// RoundTrip implements goproxy.RoundTripper over the session's origin connection.
func (x *exchange) RoundTrip(r *http.Request, _ *goproxy.ProxyCtx) (*http.Response, error) {
	for {
		o, reused, err := x.session.origin(r.Context(), x.permit)
		if err != nil {
			return nil, err
		}
		resp, err := x.roundTrip(o, r)
		if err == nil {
			return resp, nil
		}
		o.close()
		if reused && !o.heard && x.sender == nil && r.Context().Err() == nil {
			continue // the origin had closed the connection while it was idle: nobody acted on the request
		}
		if x.sender != nil {
			x.sender.stop(x)
			if bad := x.session.guard.bad; bad != nil { // the body was not what its framing promised
				return nil, bad
			}
		}
		return nil, &egress.Failure{Kind: egress.BadAnswer, Err: err}
	}
}

// answer is goproxy's response filter: it turns an error into an answer and removes what belongs to the origin's connection.
func (p *Proxy) answer(resp *http.Response, ctx *goproxy.ProxyCtx) *http.Response {
	if resp == nil {
		x := exchangeOf(ctx.Req)
		return replyFor(ctx.Error, x.target.dest.String()).response(ctx.Req)
	}
	for k := range dropped(resp.Header) {
		delete(resp.Header, k)
	}
	if resp.Request != nil {
		exchangeOf(resp.Request).length = resp.ContentLength
	}
	return resp
}

// finish waits until nothing of the exchange is left behind.
func (x *exchange) finish() {
	if x.sender != nil {
		x.sender.stop(x)
	}
	if x.broken != nil {
		panic(http.ErrAbortHandler) // the client must see that the body is not whole
	}
}

// stopReading makes a pending read of the request body return.
func (x *exchange) stopReading() {
	http.NewResponseController(x.ResponseWriter).SetReadDeadline(time.Unix(1, 0))
}
