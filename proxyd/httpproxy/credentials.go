package httpproxy

import (
	"bytes"
	"encoding/base64"
)

// credentials are the user name and password that r shows to a proxy (RFC 7617), "" when it shows none that can be read. Of several the
// last one counts.
func (r *request) credentials() (user, password string) {
	for rest := r.lines; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, bad := headerLine(line)
		if bad != nil || !is(name, "proxy-authorization") {
			continue
		}
		user, password = "", ""
		scheme, coded, _ := bytes.Cut(value, []byte(" "))
		plain, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(coded)))
		if err != nil || !is(scheme, "basic") {
			continue
		}
		before, after, _ := bytes.Cut(plain, []byte(":"))
		user, password = string(before), string(after)
	}
	return user, password
}
