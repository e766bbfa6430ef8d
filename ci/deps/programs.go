package deps

// Program is one binary that scripts/build makes.
type Program struct {
	Name    string
	Package string // relative to the root of the tree
	Systems []string
	Never   []Never
}

// Never is a package, with everything below it, that a program must not link.
type Never struct {
	Package string
	Why     string
}

var (
	noPlugin = Never{"github.com/hashicorp/go-plugin", "20 ms of CPU at every start"}
	noGRPC   = Never{"google.golang.org/grpc", "20 ms of CPU at every start"}
	noHTTP   = Never{"net/http", "page faults at every start, and nothing here speaks HTTP"}
	noTLS    = Never{"crypto/tls", "page faults at every start, and nothing here speaks TLS"}
	noCgo    = Never{"github.com/seccomp/libseccomp-golang", "needs cgo; filters are generated beforehand"}
	noExec   = Never{"os/exec", "looks programs up in PATH, which a workspace may have put itself into"}
)

// Programs is the list that scripts/build works through too.
var Programs = []Program{
	{"srt", "./cmd/srt", []string{"linux", "darwin", "windows"}, []Never{noPlugin, noGRPC, noHTTP, noTLS}},
	{"srt-linux", "./helpers/srt-linux", []string{"linux"}, []Never{noPlugin, noGRPC, noHTTP, noTLS, noCgo, noExec}},
	{"srt-linux-rpc", "./helpers/srt-linux/rpc", []string{"linux"}, []Never{noCgo}},
	{"srt-darwin", "./helpers/srt-darwin", []string{"darwin"}, nil},
	{"srt-windows", "./helpers/srt-windows", []string{"windows"}, []Never{noPlugin, noGRPC, noHTTP, noTLS}},
	{"srt-windows-rpc", "./helpers/srt-windows/rpc", []string{"windows"}, nil},
	{"proxyd", "./proxyd", []string{"linux", "darwin", "windows"}, []Never{noPlugin, noGRPC, noExec}},
	{"proxyd-rpc", "./proxyd/rpc", []string{"linux", "darwin", "windows"}, nil},
}
