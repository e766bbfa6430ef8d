package runas

import (
	"fmt"
	"slices"
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// curlNoTLS is curl's own exit status for a TLS connection that could not be begun.
const curlNoTLS = 35

// schannel gives the reason why a command has failed, where it can be known to be Schannel: the curl of Windows has no other TLS and an exit
// status of its own for it, and git was told to use it. Of a program that another one started, nothing is known.
func schannel(path string, argv []string, systemDir string, code uint32) *wire.Fault {
	own := []string{winpath.Key(systemDir), winpath.Key(winpath.Join(winpath.Parent(systemDir), "SysWOW64"))}
	curl := winpath.Key(winpath.Base(path)) == "CURL.EXE" && slices.Contains(own, winpath.Key(winpath.Parent(path)))
	asked := winpath.Key(winpath.Base(path)) == "GIT.EXE" && slices.ContainsFunc(argv, func(w string) bool {
		return strings.EqualFold(strings.TrimPrefix(w, "--config="), gitOpenSSL[0]+"=schannel")
	})
	if !(curl && code == curlNoTLS) && !(asked && code != 0) {
		return nil
	}
	hint := "leave http.sslBackend out: srt sets git to the TLS of its own"
	if curl {
		hint = "use a curl with a TLS of its own, such as the one of Git for Windows, or run it outside the sandbox"
	}
	return &wire.Fault{Code: wire.CodeUnsupported, Op: "run", Path: path, Hint: hint,
		Detail: fmt.Sprintf("it ended with status %d, and the TLS of Windows (Schannel) gives no credentials to a restricted token", code)}
}
