package environ

import (
	"path"
	"strings"
)

// javaOptions appends ours to the caller's: of equal options the JVM takes the last.
func javaOptions(s *Spec) string {
	var words []string
	if theirs := s.lookup("JAVA_TOOL_OPTIONS"); theirs != "" {
		words = append(words, theirs)
	}
	n := len(words)
	if s.ProxyAddr != "" {
		for _, scheme := range []string{"http", "https"} {
			words = append(words, "-D"+scheme+".proxyHost="+s.host(), "-D"+scheme+".proxyPort="+s.port())
		}
		if s.GOOS == "darwin" { // else the JVM connects to ::ffff:127.0.0.1, which Seatbelt does not take for the loopback
			words = append(words, "-Djava.net.preferIPv4Stack=true")
		}
	}
	if s.TmpDir != "" && !strings.ContainsAny(s.TmpDir, "\"'\t\n") { // the JVM has no escape for quotes
		option := "-Djava.io.tmpdir=" + s.TmpDir
		if strings.Contains(option, " ") {
			option = `"` + option + `"`
		}
		words = append(words, option)
	}
	if len(words) == n {
		return ""
	}
	return strings.Join(words, " ")
}

// sshCommand makes git's ssh connect through the relay. A caller's own ssh keeps its options behind ours (ssh takes the first of equal
// ones); what is not plainly ssh is the caller's choice and stays.
func sshCommand(s *Spec) string {
	if s.ProxyAddr == "" || len(s.Relay) == 0 {
		return ""
	}
	program, rest := "ssh", ""
	if theirs := s.lookup("GIT_SSH_COMMAND"); theirs != "" {
		program, rest, _ = strings.Cut(strings.TrimLeft(theirs, " "), " ")
		if strings.ContainsAny(program, "\"'\\$`=;&|<>()") || strings.TrimSuffix(path.Base(program), ".exe") != "ssh" {
			return ""
		}
	}
	words := make([]string, 0, len(s.Relay)+2)
	for _, w := range s.Relay {
		words = append(words, strings.ReplaceAll(shellQuote(w), "%", "%%"))
	}
	proxy := "ProxyCommand=" + strings.Join(append(words, "%h", "%p"), " ")
	ours := program + " -o ControlMaster=no -o ControlPath=none -o " + shellQuote(proxy)
	if rest = strings.TrimSpace(rest); rest != "" {
		ours += " " + rest
	}
	return ours
}

func tarOptions(s *Spec) string {
	if !s.Root || s.GOOS != "linux" {
		return ""
	}
	return strings.TrimSpace(s.lookup("TAR_OPTIONS") + " --no-same-owner")
}

// gitProxy: git takes one program without arguments.
func gitProxy(s *Spec) string {
	if s.ProxyAddr == "" || len(s.Relay) != 1 {
		return ""
	}
	return s.Relay[0]
}

// shellQuote makes one word of s for sh, fish and csh alike.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
