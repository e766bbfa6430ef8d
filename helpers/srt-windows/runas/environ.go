package runas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// Own are the folders that a run has to itself.
type Own struct {
	Tmp  string
	Home string // "" leaves the caller's home: it is granted
}

// fixed are variables that the command gets whatever the caller's environment says, with the reason beside each.
func fixed(o Own, user string) [][2]string {
	out := [][2]string{
		{"NoDefaultCurrentDirectoryInExePath", "1"}, // a name without a folder is never looked for in the working directory
		{"TEMP", o.Tmp}, // the run's own, removed at the end
		{"TMP", o.Tmp},  // the same: programs differ in which they read
		{"TMPDIR", o.Tmp},
		{"USERNAME", user},              // who the command is
		{"CURL_SSL_BACKEND", "openssl"}, // a curl with several has it use this one, for gitOpenSSL's reason; one with Schannel alone does not ask
	}
	if o.Home == "" {
		return out
	}
	return append(out, [][2]string{ // the caller's profile is closed to the account; what asks for it finds an empty one
		{"USERPROFILE", o.Home},
		{"HOME", o.Home},
		{"HOMEDRIVE", o.Home[:2]},
		{"HOMEPATH", o.Home[2:]},
		{"APPDATA", winpath.Join(o.Home, `AppData\Roaming`)},
		{"LOCALAPPDATA", winpath.Join(o.Home, `AppData\Local`)},
	}...)
}

// dropped are variables that would say where the caller's own things are, or change how programs start.
var dropped = []string{
	"ONEDRIVE", "ONEDRIVECONSUMER", "ONEDRIVECOMMERCIAL", // folders of the caller
	"USERDOMAIN_ROAMINGPROFILE", "LOGONSERVER", // the caller's logon
	"__COMPAT_LAYER",                                                                                                                     // can ask for elevation or other shims
	"COR_ENABLE_PROFILING", "COR_PROFILER", "COR_PROFILER_PATH", "CORECLR_ENABLE_PROFILING", "CORECLR_PROFILER", "CORECLR_PROFILER_PATH", // load a library into every .NET program
}

// gitOpenSSL steers git to the TLS of its own: Windows gives no TLS credentials to a restricted token, so its own stack (Schannel) fails.
var gitOpenSSL = [2]string{"http.sslBackend", "openssl"}

// Environment builds the command's environment: names once whatever their case, sorted as Windows keeps them.
func Environment(base []string, o Own, user string) ([]string, error) {
	type variable struct{ name, value string }
	vars := map[string]variable{}
	for _, e := range base {
		if strings.ContainsRune(e, 0) {
			return nil, fmt.Errorf("environment: %q holds a NUL", e)
		}
		at := strings.IndexByte(e[min(1, len(e)):], '=') + 1 // "=C:=C:\x" is how Windows keeps the folder of a drive
		if at < 1 || at == 0 {
			return nil, fmt.Errorf("environment: %q is not NAME=VALUE", e)
		}
		if strings.HasPrefix(e, "=") {
			continue // the caller's folders on other drives
		}
		vars[winpath.Key(e[:at])] = variable{e[:at], e[at+1:]}
	}
	for _, name := range dropped {
		delete(vars, name)
	}
	for _, f := range fixed(o, user) {
		vars[winpath.Key(f[0])] = variable{f[0], f[1]}
	}
	n := 0
	if c, ok := vars["GIT_CONFIG_COUNT"]; ok {
		var err error
		if n, err = strconv.Atoi(c.value); err != nil || n < 0 || n > 1000 {
			return nil, fmt.Errorf("environment: GIT_CONFIG_COUNT=%q is no count", c.value)
		}
	}
	for i, v := range map[string]string{"GIT_CONFIG_KEY_": gitOpenSSL[0], "GIT_CONFIG_VALUE_": gitOpenSSL[1]} {
		name := i + strconv.Itoa(n)
		vars[name] = variable{name, v}
	}
	vars["GIT_CONFIG_COUNT"] = variable{"GIT_CONFIG_COUNT", strconv.Itoa(n + 1)}
	keys := make([]string, 0, len(vars))
	for k := range vars {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, vars[k].name+"="+vars[k].value)
	}
	return out, nil
}

// Lookup finds a variable in an environment that Environment made.
func Lookup(env []string, name string) string {
	for _, e := range env {
		if k, v, ok := strings.Cut(e, "="); ok && winpath.Key(k) == winpath.Key(name) {
			return v
		}
	}
	return ""
}
