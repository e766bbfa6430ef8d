package httpproxy

import (
	"io"
	"maps"
	"net/http"
)

// WriteHeader implements http.ResponseWriter: it keeps net/http's server from adding to the origin's headers.
func (x *exchange) WriteHeader(code int) {
	h := x.Header()
	for _, k := range [...]string{"Date", "Content-Type"} {
		if _, ok := h[k]; !ok {
			h[k] = nil
		}
	}
	if !x.sender.sent() { // what is left of the request's body would be taken for the next request
		h.Set("Connection", "close")
	}
	x.ResponseWriter.WriteHeader(code)
	if x.from != nil && (x.length < 0 || x.length > 0 && x.from.in.Buffered() == 0) {
		x.Flush() // the head does not wait for the body
	}
}

// informational passes a 1xx answer on.
func (x *exchange) informational(resp *http.Response) {
	if !x.request.ProtoAtLeast(1, 1) {
		return
	}
	h := x.Header()
	for k := range dropped(resp.Header) {
		delete(resp.Header, k)
	}
	maps.Copy(h, resp.Header)
	x.ResponseWriter.WriteHeader(resp.StatusCode)
	clear(h)
}

// ReadFrom implements io.ReaderFrom: the body goes on as it comes. What is there at once is written at once; whenever the origin pauses,
// everything so far is flushed to the client.
func (x *exchange) ReadFrom(src io.Reader) (int64, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	var total int64
	for {
		n, err := src.Read(*buf)
		if n > 0 {
			if _, werr := x.ResponseWriter.Write((*buf)[:n]); werr != nil {
				return total, werr
			}
			total += int64(n)
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		if n < len(*buf) && total != x.length {
			x.Flush()
		}
	}
}

// Flush implements http.Flusher.
func (x *exchange) Flush() { x.ResponseWriter.(http.Flusher).Flush() }

// Unwrap lets http.ResponseController reach the server's own writer.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }
