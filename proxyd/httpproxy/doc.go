// Package httpproxy is the HTTP front end: CONNECT, requests in absolute form, and upgrades. It turns each request's one authority into a
// destination, has it judged (package gate), and relays. It must never dial by itself, never read a destination a second time, and never
// hold a body.
//
// github.com/elazarl/goproxy carries CONNECT tunnels and the flow of plain requests (filter, round trip, response). It is not relied on
// for these, each for a reason that a test here shows:
//
//   - dialling: it would read proxy variables and dial what it parsed itself; every connection comes from package gate, before the
//     client is answered;
//   - round trips: net/http's Transport shares connections between clients and retries by itself; origin.go ties an origin connection
//     to the client connection that it serves, which also makes it faster;
//   - request heads: net/http's server accepts a length beside a transfer coding; guard.go refuses that on the raw bytes;
//   - refusals and failures: its own answers show internal errors, or are empty; refuse.go writes all of them;
//   - upgrades: it knows WebSocket only and ends both directions when one ends; upgrade.go relays any protocol, half-close included;
//   - interception: its certificate authority has a public key; nothing here uses it.
package httpproxy
