package relay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/srt-dev/srt/proxyd/limits"
)

// pair gives the two ends of a TCP connection.
func pair(t testing.TB) (a, b *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	d, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, conn := range []net.Conn{c, d} {
		conn.SetDeadline(time.Now().Add(time.Minute))
		t.Cleanup(func() { conn.Close() })
	}
	return c.(*net.TCPConn), d.(*net.TCPConn)
}

func TestBoth(t *testing.T) {
	client, ours := pair(t)
	theirs, server := pair(t)
	done := make(chan struct{})
	go func() {
		Both(ours, theirs)
		close(done)
	}()
	io.WriteString(client, "question")
	client.CloseWrite()
	if b, err := io.ReadAll(server); err != nil || string(b) != "question" {
		t.Errorf("%q, %v", b, err)
	}
	io.WriteString(server, "answer") // after the other half is closed
	server.CloseWrite()
	if b, err := io.ReadAll(client); err != nil || string(b) != "answer" {
		t.Errorf("%q, %v", b, err)
	}
	<-done
}

func TestAnErrorOfOneDirectionEndsBoth(t *testing.T) {
	client, ours := pair(t)
	theirs, server := pair(t)
	done := make(chan struct{})
	go func() {
		Both(ours, theirs)
		close(done)
	}()
	client.SetLinger(0)
	client.Close()
	<-done
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the server sees %v, not the reset", err)
	}
}

func TestCopy(t *testing.T) {
	for name, size := range map[string]int{"nothing": 0, "a little": 10, "a buffer": limits.CopyBuffer, "enough to be spliced": 40 << 20} {
		t.Run(name, func(t *testing.T) {
			from, src := pair(t)
			dst, to := pair(t)
			data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			go func() {
				from.Write(data)
				from.CloseWrite()
			}()
			got := make(chan []byte)
			go func() {
				b, _ := io.ReadAll(to)
				got <- b
			}()
			n, err := Copy(dst, src)
			dst.CloseWrite()
			if b := <-got; err != nil || n != int64(size) || !bytes.Equal(b, data) {
				t.Errorf("%d bytes, %v; %d arrived of %d", n, err, len(b), size)
			}
		})
	}
	t.Run("a reader that is gone", func(t *testing.T) {
		from, src := pair(t)
		dst, to := pair(t)
		to.SetLinger(0)
		to.Close()
		go func() {
			for {
				if _, err := from.Write(make([]byte, 1000)); err != nil {
					return
				}
			}
		}()
		if _, err := Copy(dst, src); err == nil {
			t.Error("no error")
		}
		from.Close()
	})
	t.Run("closed from elsewhere", func(t *testing.T) {
		_, src := pair(t)
		dst, _ := pair(t)
		time.AfterFunc(20*time.Millisecond, func() { src.Close() })
		if _, err := Copy(dst, src); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

func TestLinger(t *testing.T) {
	client, ours := pair(t)
	client.Write(make([]byte, 100_000)) // unread bytes would make a reset of the close
	io.WriteString(ours, "last words")
	Linger(ours)
	if b, err := io.ReadAll(client); err != nil || string(b) != "last words" {
		t.Errorf("%q, %v", b, err)
	}
	_, ours = pair(t)
	start := time.Now()
	Linger(ours)
	if d := time.Since(start); d > 5*limits.Linger {
		t.Errorf("a client that stays costs %v", d)
	}
}
