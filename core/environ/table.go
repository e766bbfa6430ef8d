package environ

import "strings"

// Variable is one that srt sets.
type Variable struct {
	Name      string
	BothCases bool   // the same name in small letters too
	Why       string // who reads it, or why it has this value

	value func(*Spec) string // "" sets nothing
}

// table is every variable that srt sets for a command. One port speaks HTTP, CONNECT and SOCKS5, so each client gets the form it knows.
var table = [...]Variable{
	{"SANDBOX_RUNTIME", false, "programs can tell that they are sandboxed", func(*Spec) string { return "1" }},

	{"HTTP_PROXY", true, "nearly every client; curl and wget read the small letters alone, Java tools and .NET the capitals", httpURL},
	{"HTTPS_PROXY", true, "the same for https: CONNECT over plain HTTP, so the URL is http://", httpURL},
	{"ALL_PROXY", true, "fallback of many; http:// because httpx, aria2 and gRPC stop at a socks URL, and every reader knows http", httpURL},
	{"FTP_PROXY", true, "socks5h:// because curl would ask an HTTP proxy to be an FTP gateway", socksURL},
	{"GRPC_PROXY", true, "gRPC knows CONNECT proxies only", httpURL},
	{"RSYNC_PROXY", true, "rsync wants host:port of a CONNECT proxy", hostPort},
	{"DOCKER_HTTP_PROXY", true, "Docker's tools", httpURL},
	{"DOCKER_HTTPS_PROXY", true, "Docker's tools", httpURL},
	{"CLOUDSDK_PROXY_TYPE", false, "gcloud: what the proxy speaks, not what goes through it", onProxy("http")},
	{"CLOUDSDK_PROXY_ADDRESS", false, "gcloud", func(s *Spec) string { return onlyWith(s, (*Spec).host) }},
	{"CLOUDSDK_PROXY_PORT", false, "gcloud", func(s *Spec) string { return onlyWith(s, (*Spec).port) }},
	{"CLOUDSDK_PROXY_USERNAME", false, "gcloud, where the proxy needs the token", func(s *Spec) string { return onlyWith(s, user) }},
	{"CLOUDSDK_PROXY_PASSWORD", false, "gcloud, where the proxy needs the token", func(s *Spec) string { return onlyWith(s, func(s *Spec) string { return s.Token }) }},
	{"NO_PROXY", true, "the sandbox's own loopback is reached directly; nothing else is reachable without the proxy, private networks neither; on Windows the loopback is the machine's, which only the proxy reaches", noProxy},
	{"NODE_USE_ENV_PROXY", false, "Node's fetch and http ignore the variables without it", onProxy("1")},
	{"JAVA_TOOL_OPTIONS", false, "Java reads no proxy variable and no TMPDIR; the caller's options stay in front", javaOptions},
	{"GIT_SSH_COMMAND", false, "git over ssh: our own relay connects through the proxy; no shared connection, because its socket lies outside", sshCommand},
	{"GIT_PROXY_COMMAND", false, "git://: the same relay, which git calls with host and port", gitProxy},

	{"TAR_OPTIONS", false, "GNU tar run by root gives files to their owners, which fails in a user namespace; the caller's options stay in front", tarOptions},

	{"TMPDIR", false, "the run's own temporary directory", tmpDir},
	{"TMPPREFIX", false, "zsh keeps here-documents under it, not under TMPDIR", func(s *Spec) string {
		if s.TmpDir == "" || s.GOOS == "windows" {
			return ""
		}
		return s.TmpDir + "/zsh"
	}},
	{"TMUX_TMPDIR", false, "tmux keeps its socket there, not in TMPDIR; the caller's stays", func(s *Spec) string {
		if s.GOOS == "windows" || s.lookup("TMUX_TMPDIR") != "" {
			return ""
		}
		return s.TmpDir
	}},
	{"TMP", false, "set where the caller has it, because many read it before TMPDIR; always on Windows", sometimesTmp("TMP")},
	{"TEMP", false, "as TMP", sometimesTmp("TEMP")},
	{"TEMPDIR", false, "as TMP", sometimesTmp("TEMPDIR")},
}

// dropped are variables of the caller that would win over ours and lead to a proxy that the command cannot reach, in small letters;
// names are compared without regard to case. What stands in configuration files (~/.npmrc, pip.conf, apt.conf, ~/.gitconfig http.proxy)
// is the user's to change.
var dropped = [...]struct{ name, why string }{
	{"npm_config_proxy", "npm takes it before HTTP_PROXY"},
	{"npm_config_http_proxy", "npm takes it before HTTP_PROXY"},
	{"npm_config_https_proxy", "npm takes it before HTTPS_PROXY"},
	{"npm_config_noproxy", "npm takes it before NO_PROXY"},
	{"npm_config_no_proxy", "npm takes it before NO_PROXY"},
	{"yarn_http_proxy", "yarn takes it before HTTP_PROXY"},
	{"yarn_https_proxy", "yarn takes it before HTTPS_PROXY"},
	{"pip_proxy", "pip takes it before HTTPS_PROXY"},
	{"uv_http_proxy", "uv takes it before HTTP_PROXY"},
	{"uv_https_proxy", "uv takes it before HTTPS_PROXY"},
	{"uv_no_proxy", "uv takes it before NO_PROXY"},
	{"cargo_http_proxy", "cargo takes it before HTTPS_PROXY"},
	{"cgi_http_proxy", "composer takes it before HTTP_PROXY"},
	{"global_agent_http_proxy", "Node's global-agent takes it before HTTP_PROXY"},
	{"global_agent_https_proxy", "Node's global-agent takes it before HTTPS_PROXY"},
	{"global_agent_no_proxy", "Node's global-agent takes it before NO_PROXY"},
	{"no_grpc_proxy", "gRPC takes it before NO_PROXY"},
	{"ws_proxy", "Python's WebSocket clients take it before HTTP_PROXY"},
	{"wss_proxy", "Python's WebSocket clients take it before HTTPS_PROXY"},
	{"socks_proxy", "Python's WebSocket clients take it before HTTPS_PROXY"},
	{"cloudsdk_proxy_username", "credentials of another proxy"},
	{"cloudsdk_proxy_password", "credentials of another proxy"},
	{"cloudsdk_proxy_rdns", "belongs to another kind of proxy"},
	// every spelling of ours (Http_Proxy): Python reads them all, and they may hold the password of the caller's proxy
	{"http_proxy", "another spelling"},
	{"https_proxy", "another spelling"},
	{"all_proxy", "another spelling"},
	{"ftp_proxy", "another spelling"},
	{"grpc_proxy", "another spelling"},
	{"rsync_proxy", "another spelling"},
	{"no_proxy", "another spelling"},
	{"docker_http_proxy", "another spelling"},
	{"docker_https_proxy", "another spelling"},
}

func drops(name string) bool {
	for i := range dropped {
		if strings.EqualFold(dropped[i].name, name) {
			return true
		}
	}
	return false
}

// Table gives the variables that srt sets, for documentation.
func Table() []Variable { return append([]Variable(nil), table[:]...) }

func onlyWith(s *Spec, f func(*Spec) string) string {
	if s.ProxyAddr == "" {
		return ""
	}
	return f(s)
}

func onProxy(value string) func(*Spec) string {
	return func(s *Spec) string { return onlyWith(s, func(*Spec) string { return value }) }
}

func user(s *Spec) string {
	if s.Token == "" {
		return ""
	}
	return "srt"
}

func userinfo(s *Spec) string {
	if s.Token == "" {
		return ""
	}
	return "srt:" + s.Token + "@"
}

func httpURL(s *Spec) string {
	return onlyWith(s, func(s *Spec) string { return "http://" + userinfo(s) + s.ProxyAddr })
}

func socksURL(s *Spec) string {
	return onlyWith(s, func(s *Spec) string { return "socks5h://" + userinfo(s) + s.ProxyAddr })
}

func hostPort(s *Spec) string {
	return onlyWith(s, func(s *Spec) string { return userinfo(s) + s.ProxyAddr })
}

func noProxy(s *Spec) string {
	if s.GOOS == "windows" && !s.Loopback {
		return ""
	}
	return onlyWith(s, func(*Spec) string { return "localhost,127.0.0.1,::1" })
}

func tmpDir(s *Spec) string { return s.TmpDir }

func sometimesTmp(name string) func(*Spec) string {
	return func(s *Spec) string {
		if s.GOOS == "windows" && name != "TEMPDIR" || s.lookup(name) != "" {
			return s.TmpDir
		}
		return ""
	}
}
