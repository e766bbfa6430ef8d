package httpproxy

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/srt-dev/srt/proxyd/egress"
	"github.com/srt-dev/srt/proxyd/relay"
)

// upgrade relays a request that changes the protocol (WebSocket and others). Its connection is judged like any other and serves this
// request alone.
func (p *Proxy) upgrade(x *exchange) {
	if rep := p.judge(x, "upgrade"); rep != nil {
		rep.write(x)
		return
	}
	fail := func(err error) { replyFor(err, x.target.dest.String()).write(x) }
	link, err := x.permit.Dial(x.request.Context(), egress.Plain)
	if err != nil {
		fail(err)
		return
	}
	o := newOrigin(link, x.permit)
	resp, err := x.roundTrip(o, x.request)
	switch {
	case err != nil:
		o.close()
		fail(&egress.Failure{Kind: egress.BadAnswer, Err: err})
	case resp.StatusCode != http.StatusSwitchingProtocols:
		x.last = true
		x.deliver(resp)
	default:
		x.switchTo(o, resp)
	}
}

// deliver sends a response that changes nothing.
func (x *exchange) deliver(resp *http.Response) {
	defer resp.Body.Close()
	for k := range dropped(resp.Header) {
		delete(resp.Header, k)
	}
	maps.Copy(x.Header(), resp.Header)
	x.length = resp.ContentLength
	x.WriteHeader(resp.StatusCode)
	io.Copy(x, resp.Body)
}

// switchTo passes the 101 on and becomes a relay.
func (x *exchange) switchTo(o *origin, resp *http.Response) {
	conn, rw, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err != nil {
		o.close()
		return
	}
	client := conn.(*guard)
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	client.tunnel(early)
	protocol := resp.Header["Upgrade"]
	for k := range dropped(resp.Header) {
		delete(resp.Header, k)
	}
	resp.Header["Connection"], resp.Header["Upgrade"] = []string{"Upgrade"}, protocol
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %s\r\n", resp.Status)
	resp.Header.Write(&head)
	head.WriteString("\r\n")
	early, _ = o.in.Peek(o.in.Buffered())
	head.Write(early)
	if _, err := client.Write(head.Bytes()); err != nil {
		client.Close()
		o.close()
		return
	}
	relay.Both(client, o.conn)
}
