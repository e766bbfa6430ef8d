// Package environ builds the environment of a command from that of srt's caller: it names the proxy to every client that can be told
// by a variable, names the private temporary directory, and takes away what would lead around either. All the rest is kept byte for
// byte, odd entries too.
//
// It computes only. It must never put a secret of the caller's proxies, or of srt, into the command's environment.
package environ

import (
	"strconv"
	"strings"
)

// Spec is what an environment is built from.
type Spec struct {
	GOOS            string   // of the command
	Caller          []string // the caller's environment
	ProxyAddr       string   // "127.0.0.1:3128"; "" sets no proxy variable
	Token           string   // Windows only: names the command to the shared proxy; "" elsewhere, where the listener says whose it is
	Loopback        bool     // Windows only: the command reaches the machine's own loopback without the proxy
	TmpDir          string   // the run's own temporary directory; "" leaves TMPDIR alone
	Relay           []string // program and first arguments that, with host and port behind them, connect standard streams through the proxy
	Root            bool     // the caller is root
	SafeDirectories []string // repositories that git is told to trust
}

// Build gives the command's environment: the caller's entries in their order without those that are replaced, then ours.
func Build(s Spec) []string {
	fold := s.GOOS == "windows"
	ours := values(&s)
	replaced := make(map[string]bool, len(ours))
	for _, v := range ours {
		name, _, _ := strings.Cut(v, "=")
		replaced[key(name, fold)] = true
	}
	env := make([]string, 0, len(s.Caller)+len(ours))
	for _, e := range s.Caller {
		name, _, found := strings.Cut(e, "=")
		if found && name != "" && (replaced[key(name, fold)] || s.ProxyAddr != "" && drops(name)) {
			continue
		}
		env = append(env, e)
	}
	return append(env, ours...)
}

// values gives the entries that srt sets.
func values(s *Spec) []string {
	var out []string
	for i := range table {
		v := &table[i]
		value := v.value(s)
		if value == "" {
			continue
		}
		out = append(out, v.Name+"="+value)
		if small := strings.ToLower(v.Name); v.BothCases && s.GOOS != "windows" { // one variable there
			out = append(out, small+"="+value)
		}
	}
	return append(out, gitConfig(s)...)
}

func key(name string, fold bool) string {
	if fold {
		return strings.ToUpper(name)
	}
	return name
}

// lookup gives the caller's value; of equal names the last one counts.
func (s *Spec) lookup(name string) string {
	value := ""
	for _, e := range s.Caller {
		if k, v, ok := strings.Cut(e, "="); ok && key(k, s.GOOS == "windows") == name {
			value = v
		}
	}
	return value
}

func (s *Spec) host() string { return s.ProxyAddr[:strings.LastIndexByte(s.ProxyAddr, ':')] }
func (s *Spec) port() string { return s.ProxyAddr[strings.LastIndexByte(s.ProxyAddr, ':')+1:] }

// gitConfig tells git of the trusted repositories, behind what the caller tells it in the same way.
func gitConfig(s *Spec) []string {
	if len(s.SafeDirectories) == 0 {
		return nil
	}
	n := 0
	if c := s.lookup("GIT_CONFIG_COUNT"); c != "" {
		var err error
		if n, err = strconv.Atoi(c); err != nil || n < 0 || n > 1<<20 {
			return nil // git itself refuses to run with it
		}
	}
	var out []string
	for _, d := range s.SafeDirectories {
		i := strconv.Itoa(n)
		out = append(out, "GIT_CONFIG_KEY_"+i+"=safe.directory", "GIT_CONFIG_VALUE_"+i+"="+d)
		n++
	}
	return append(out, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}
