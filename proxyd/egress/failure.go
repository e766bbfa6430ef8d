package egress

import (
	"context"
	"errors"
	"net"
	"os"
)

// FailureKind is why a connection that the policy allows did not come about.
type FailureKind uint8

// Kinds of failures.
const (
	Other FailureKind = iota
	NoSuchHost
	LookupFailed
	LookupTimeout
	Refused
	NetUnreachable
	HostUnreachable
	Timeout
	UpstreamDown
	UpstreamAuth
	UpstreamRefused
	UpstreamTimeout
	BadAnswer
)

// SOCKS5 replies (RFC 1928) that a failure can have. Reply 2, "not allowed", is for refusals alone.
const (
	SocksNetUnreachable  = 3
	SocksHostUnreachable = 4
	SocksRefused         = 5
)

var failures = map[FailureKind]struct {
	Status int    // of HTTP
	Socks  byte   // reply
	Code   string // of X-Proxy-Error
	Text   string // what the client is told
}{
	Other:           {502, SocksHostUnreachable, "connection-failed", "the connection could not be made"},
	NoSuchHost:      {502, SocksHostUnreachable, "dns-no-such-host", "the name does not resolve"},
	LookupFailed:    {502, SocksHostUnreachable, "dns-failure", "the name could not be resolved"},
	LookupTimeout:   {504, SocksHostUnreachable, "dns-timeout", "resolving the name took too long"},
	Refused:         {502, SocksRefused, "connection-refused", "the host refused the connection"},
	NetUnreachable:  {502, SocksNetUnreachable, "network-unreachable", "the network is unreachable"},
	HostUnreachable: {502, SocksHostUnreachable, "host-unreachable", "the host is unreachable"},
	Timeout:         {504, SocksHostUnreachable, "connection-timeout", "the host did not answer in time"},
	UpstreamDown:    {502, SocksHostUnreachable, "upstream-proxy-down", "the upstream proxy cannot be reached"},
	UpstreamAuth:    {502, SocksHostUnreachable, "upstream-proxy-auth", "the upstream proxy wants other credentials"},
	UpstreamRefused: {502, SocksHostUnreachable, "upstream-proxy-refused", "the upstream proxy refused the connection"},
	UpstreamTimeout: {504, SocksHostUnreachable, "upstream-proxy-timeout", "the upstream proxy did not answer in time"},
	BadAnswer:       {502, SocksHostUnreachable, "bad-response", "the host closed the connection or sent what is not HTTP"},
}

// Failure is a connection that the policy allows and that did not come about. Err is for the log only: it may hold addresses.
type Failure struct {
	Kind   FailureKind
	Detail string // what an upstream proxy said, printable, or ""
	Err    error
}

// Error implements error, for the log.
func (f *Failure) Error() string {
	if f.Err != nil {
		return f.Code() + ": " + f.Err.Error()
	}
	return f.Code()
}

// Unwrap implements errors.Unwrap.
func (f *Failure) Unwrap() error { return f.Err }

// Status is the HTTP status, 502 or 504.
func (f *Failure) Status() int { return failures[f.Kind].Status }

// SocksReply is the SOCKS5 reply, 3, 4 or 5.
func (f *Failure) SocksReply() byte { return failures[f.Kind].Socks }

// Code is the value of X-Proxy-Error.
func (f *Failure) Code() string { return failures[f.Kind].Code }

// Text is what the client is told.
func (f *Failure) Text() string {
	if f.Detail != "" {
		return failures[f.Kind].Text + " (" + f.Detail + ")"
	}
	return failures[f.Kind].Text
}

func lookupFailure(err error) *Failure {
	var dns *net.DNSError
	kind := LookupFailed
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		kind = NoSuchHost
	case timedOut(err):
		kind = LookupTimeout
	}
	return &Failure{Kind: kind, Err: err}
}

func dialFailure(err error) *Failure {
	kind := Other
	switch {
	case errors.Is(err, errConnRefused):
		kind = Refused
	case errors.Is(err, errNetUnreachable):
		kind = NetUnreachable
	case errors.Is(err, errHostUnreachable):
		kind = HostUnreachable
	case timedOut(err):
		kind = Timeout
	}
	return &Failure{Kind: kind, Err: err}
}

func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
