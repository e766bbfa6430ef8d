// Package httpproxy is the HTTP front end: CONNECT, requests in absolute form, and upgrades. It reads each request's one destination, has
// it judged (package gate), and relays bytes: apart from the request line, Host and the headers that belong to one connection, origin and
// client see each other's bytes as they were sent. It must never dial by itself, never read a destination a second time, and never hold a
// body.
//
// No HTTP library stands between the two sides, for properties that github.com/elazarl/goproxy and the net/http server and Transport under
// it do not have, each shown by a test:
//
//   - a head with a length beside a transfer coding, a folded line or a bare line feed is refused, not repaired (head.go);
//   - header order, spelling and status phrases stay as they are, trailers and informational answers too (exchange.go);
//   - an origin connection serves one client connection only, so no command's answers travel on another's (origin.go);
//   - "Expect: 100-continue" is between client and origin; a response may begin before its request has ended (body.go);
//   - any upgrade is relayed, half-close included (upgrade.go); goproxy knows WebSocket and ends both directions when one ends;
//   - refusals and failures have one form (refuse.go); goproxy's show internal errors, or are empty;
//   - a request costs about half the processor time.
//
// What was left for goproxy, to hand each CONNECT back to us, was not worth a fifth of proxyd's start: it parses the key of its public
// certificate authority before main runs.
package httpproxy
