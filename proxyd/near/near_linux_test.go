package near

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/proxyd/client"
	"github.com/srt-dev/srt/proxyd/limits"
)

const welcome = "welcome\n"

// world is a lane in front of one origin.
type world struct {
	addr    string
	command *client.Command
	origins chan *net.TCPConn // the far ends of tunnels
	served  chan *client.Conn // what Serve got
	faults  chan any
	ended   chan bool
}

// start serves clients whose words begin with "open"; what follows is early. "panic" panics.
func start(t *testing.T, hears bool) *world {
	t.Helper()
	w := &world{command: client.NewCommand("x", nil, ""), origins: make(chan *net.TCPConn, 100), served: make(chan *client.Conn, 100),
		faults: make(chan any, 1), ended: make(chan bool)}
	listen := func() *net.TCPListener {
		ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return ln
	}
	far, near := listen(), listen()
	w.addr = near.Addr().String()
	go func() {
		for {
			c, err := far.AcceptTCP()
			if err != nil {
				return
			}
			c.SetDeadline(time.Now().Add(time.Minute))
			w.origins <- c
		}
	}()
	way := Way{
		Hears: hears,
		Open: func(said []byte) (o Opened, ok bool) {
			if string(said) == "panic" {
				panic("on purpose")
			}
			early, ok := bytes.CutPrefix(said, []byte("open"))
			if !ok && hears {
				return o, false
			}
			o.Socket, _ = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			unix.Connect(o.Socket, &unix.SockaddrInet4{Port: far.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}})
			unix.SetNonblock(o.Socket, true)
			o.Answer, o.Early = []byte(welcome), early
			return o, true
		},
		Serve:  func(c *client.Conn) { w.served <- c },
		Full:   func() {},
		Broken: func(fault any, stack []byte) { w.faults <- fault },
	}
	go func() { w.ended <- Serve(w.command, near, way) }()
	t.Cleanup(func() {
		w.command.Close()
		far.Close()
		if !<-w.ended {
			t.Error("not served")
		}
	})
	return w
}

func (w *world) dial(t *testing.T, said string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, said); err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// tunnel opens one and gives both ends.
func (w *world) tunnel(t *testing.T, said string) (c, origin *net.TCPConn) {
	t.Helper()
	c = w.dial(t, said)
	want(t, c, welcome)
	return c, <-w.origins
}

func want(t *testing.T, c *net.TCPConn, text string) {
	t.Helper()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Errorf("got %.40q, %v; want %.40q", got, err, text)
	}
}

func wantEnd(t *testing.T, c *net.TCPConn, end error) {
	t.Helper()
	if n, err := c.Read(make([]byte, 1)); n > 0 || !errors.Is(err, end) {
		t.Errorf("%d bytes, %v; want %v", n, err, end)
	}
}

func TestBytesAndEndsPass(t *testing.T) {
	for name, hears := range map[string]bool{"after the client spoke": true, "at once": false} {
		t.Run(name, func(t *testing.T) {
			w := start(t, hears)
			said := map[bool]string{true: "open"}[hears]
			c, origin := w.tunnel(t, said)
			io.WriteString(c, "question")
			c.CloseWrite()
			want(t, origin, "question")
			wantEnd(t, origin, io.EOF)
			io.WriteString(origin, "answer") // after the other half is closed
			want(t, c, "answer")
			origin.Close()
			wantEnd(t, c, io.EOF)

			c, origin = w.tunnel(t, said)
			io.WriteString(origin, "speaks first")
			origin.CloseWrite()
			want(t, c, "speaks first")
			wantEnd(t, c, io.EOF)
			io.WriteString(c, "goes on")
			want(t, origin, "goes on")
			c.Close()
			wantEnd(t, origin, io.EOF)
		})
	}
}

func TestAResetPasses(t *testing.T) {
	w := start(t, true)
	c, origin := w.tunnel(t, "open")
	c.SetLinger(0)
	c.Close()
	wantEnd(t, origin, syscall.ECONNRESET)

	c, origin = w.tunnel(t, "open")
	origin.SetLinger(0)
	origin.Close()
	wantEnd(t, c, syscall.ECONNRESET)

	c, origin = w.tunnel(t, "open")
	c.CloseWrite()
	wantEnd(t, origin, io.EOF)
	c.SetLinger(0)
	c.Close()
	origin.SetReadDeadline(time.Now().Add(10 * time.Second))
	for err := error(nil); err == nil; { // an end that was told before: seen by who writes
		_, err = origin.Write([]byte("x"))
		time.Sleep(time.Millisecond)
	}
}

func TestEarlyBytesPass(t *testing.T) {
	w := start(t, true)
	long := strings.Repeat("early", 10_000) // more than is looked at
	c := w.dial(t, "open"+long)
	c.CloseWrite()
	want(t, c, welcome)
	origin := <-w.origins
	want(t, origin, long)
	wantEnd(t, origin, io.EOF)

	c = w.dial(t, "")
	time.Sleep(10 * time.Millisecond) // accepted, and waited for
	io.WriteString(c, "open"+long)
	c.CloseWrite()
	origin = <-w.origins
	want(t, origin, long)
	wantEnd(t, origin, io.EOF)
}

func TestBulkAndBackPressure(t *testing.T) {
	w := start(t, true)
	data := bytes.Repeat([]byte("0123456789abcdef"), 2<<20)
	stuck, far := w.tunnel(t, "open")
	go io.Copy(far, far) // an echo whose client does not read until it has said everything
	written := make(chan error)
	go func() {
		_, err := stuck.Write(data)
		stuck.CloseWrite()
		written <- err
	}()
	c, origin := w.tunnel(t, "open") // others are served meanwhile
	io.WriteString(c, "hello")
	want(t, origin, "hello")
	got := make(chan []byte)
	go func() {
		time.Sleep(300 * time.Millisecond)
		b := make([]byte, len(data))
		n, _ := io.ReadFull(stuck, b)
		got <- b[:n]
	}()
	if b := <-got; !bytes.Equal(b, data) {
		t.Errorf("%d bytes of %d came back as they were sent", len(b), len(data))
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	go io.Copy(origin, bytes.NewReader(data)) // the other way
	b := make([]byte, len(data))
	if n, err := io.ReadFull(c, b); err != nil || !bytes.Equal(b, data) {
		t.Errorf("%d bytes of %d, %v", n, len(data), err)
	}
}

func TestOthersAreServed(t *testing.T) {
	w := start(t, true)
	w.dial(t, "something else")
	c := <-w.served
	got := make([]byte, 100)
	if n, err := c.Read(got); err != nil || string(got[:n]) != "something else" {
		t.Errorf("%q, %v", got[:n], err)
	}
	c.Close()
	silent := w.dial(t, "")
	c = <-w.served
	io.WriteString(silent, "late")
	if n, err := c.Read(got); err != nil || string(got[:n]) != "late" {
		t.Errorf("%q, %v", got[:n], err)
	}
	c.Close()
	w.dial(t, "").Close() // says nothing and goes
	w.tunnel(t, "open")
}

func TestAFaultCostsOneConnection(t *testing.T) {
	w := start(t, true)
	c, origin := w.tunnel(t, "open")
	wantEnd(t, w.dial(t, "panic"), io.EOF)
	if fault := <-w.faults; fault != "on purpose" {
		t.Error(fault)
	}
	io.WriteString(c, "still")
	want(t, origin, "still")
}

func TestTheEndOfTheCommandEndsAll(t *testing.T) {
	before := descriptors(t)
	w := start(t, true)
	c, origin := w.tunnel(t, "open")
	silent := w.dial(t, "")
	time.Sleep(10 * time.Millisecond)
	w.command.Close()
	wantEnd(t, c, io.EOF)
	wantEnd(t, origin, io.EOF)
	wantEnd(t, silent, io.EOF)
	if _, err := net.Dial("tcp", w.addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
	c.Close()
	origin.Close()
	silent.Close()
	for deadline := time.Now().Add(10 * time.Second); descriptors(t) > before+1; time.Sleep(time.Millisecond) { // the far listener
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors, %d before", descriptors(t), before)
		}
	}
}

// TestPlacesAreKept shows that every kind of end gives the connection's place back, and that a full command's clients wait.
func TestPlacesAreKept(t *testing.T) {
	w := start(t, true)
	for range limits.Connections - 1 {
		w.command.TryReserve()
	}
	for range 3 {
		c, origin := w.tunnel(t, "open")
		c.Close()
		wantEnd(t, origin, io.EOF)
		origin.Close()
		w.dial(t, "").Close()
		w.dial(t, "else")
		(<-w.served).Close()
		wantEnd(t, w.dial(t, "panic"), io.EOF)
		<-w.faults
	}
	c, origin := w.tunnel(t, "open")
	waits := w.dial(t, "open")
	waits.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	wantEnd(t, waits, os.ErrDeadlineExceeded)
	waits.SetReadDeadline(time.Now().Add(time.Minute))
	c.Close()
	origin.Close()
	want(t, waits, welcome)
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
