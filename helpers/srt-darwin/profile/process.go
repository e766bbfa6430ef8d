package profile

import (
	"fmt"
	"strings"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

// process writes which services of the system the command may talk to.
func (g *generator) process() {
	g.w.section("services")
	g.w.allow("mach-lookup", each("global-name", machServices, serviceName)...)
	if g.Network.WeakerIsolation {
		g.w.allow("mach-lookup", each("global-name", trustServices, serviceName)...)
	}
	if g.Process.AllowAppleEvents {
		g.w.allow("appleevent-send")
		g.w.allow("lsopen")
		g.w.allow("mach-lookup", each("global-name", appleEventServices, serviceName)...)
	}
	g.w.allowAny("mach-lookup", g.userServices())
}

// userServices are those of allowMachLookup; a trailing "*" makes a prefix.
func (g *generator) userServices() []sbpl.Node {
	var out []sbpl.Node
	for _, name := range g.Process.AllowMachLookup {
		head, text := "global-name", name
		if strings.HasSuffix(name, "*") {
			head, text = "global-name-prefix", name[:len(name)-1]
		}
		switch {
		case !isServiceName(text):
			g.failSetting("allowMachLookup", name, "is not the name of a service", `write a name such as "com.apple.lsd.mapdb", with "*" at its end for a prefix`)
		case head == "global-name-prefix" && strings.Count(text, ".") < 2:
			g.failSetting("allowMachLookup", name, "opens nearly every service of the system, which leads out of the sandbox", "name the services that are needed")
		}
		out = append(out, one(head, text))
	}
	return out
}

func isServiceName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c|32 && c|32 <= 'z', '0' <= c && c <= '9', strings.IndexByte("._-@:+", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

func (g *generator) failSetting(key, value, detail, hint string) {
	if g.w.err == nil {
		g.w.err = &wire.Fault{Code: wire.CodePolicy, Op: key, Path: value, Detail: detail, Hint: hint}
	}
}

// network writes the one way out: the command's own proxy port on the loopback.
func (g *generator) network() {
	g.w.section("network: this command's proxy and nothing else")
	if addr := g.Network.ProxyAddr; addr != "" {
		port, ok := strings.CutPrefix(addr, "127.0.0.1:")
		if !ok || !isPort(port) {
			g.failSetting("proxy address", addr, "is not 127.0.0.1 and a port (a bug, please report)", "")
		}
		g.w.allow("network-outbound", sbpl.L("remote", sbpl.Sym("tcp"), sbpl.Str("localhost:"+port)))
	}
	if g.Network.AllowLocalBinding {
		local := func(side string) sbpl.Node { return sbpl.L(side, sbpl.Sym("ip"), sbpl.Str("localhost:*")) }
		g.w.allow("network-bind network-inbound", local("local"))
		g.w.allow("network-outbound", local("remote"))
	}
	for _, m := range g.Network.Mirrors {
		g.note(fmt.Sprintf("%q is reached through the proxy only; network.allowLocalBinding opens all local ports", m))
	}
	g.unixSockets()
}

func isPort(s string) bool {
	return s != "" && len(s) <= 5 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// resolver is the socket that answers host names without asking the proxy.
const resolver = "/private/var/run/mDNSResponder"

func (g *generator) unixSockets() {
	socket := func(side string, filter ...sbpl.Node) sbpl.Node {
		return sbpl.L(side, append([]sbpl.Node{sbpl.Sym("unix-socket")}, filter...)...)
	}
	if !g.Process.AllowAllUnixSockets && len(g.Sockets) == 0 {
		return
	}
	g.w.allow("system-socket", sbpl.L("socket-domain", sbpl.Sym("AF_UNIX")))
	if g.Process.AllowAllUnixSockets {
		g.w.allow("network-bind network-inbound", socket("local"))
		g.w.allow("network-outbound", socket("remote"))
		g.w.deny("network-outbound", socket("remote", one("literal", resolver)))
	}
	var bind, connect []sbpl.Node
	for _, e := range g.Sockets {
		f := g.socketFilter(e)
		bind, connect = append(bind, socket("local", f)), append(connect, socket("remote", f))
	}
	g.w.allowAny("network-bind network-inbound", bind)
	g.w.allowAny("network-outbound", connect)
}

// socketFilter covers a socket, or all of a directory; a pattern covers what it matches.
func (g *generator) socketFilter(e wire.PathEntry) sbpl.Node {
	if !e.Glob {
		return one("subpath", g.exactly(e.Path))
	}
	glob, err := pathrule.ParseGlob(e.Path)
	if err != nil {
		g.failSetting("allowUnixSockets", e.Rule, err.Error(), "")
		return one("literal", "/")
	}
	p := parsePattern(glob)
	return one("regex", "^"+exact(strings.TrimSuffix(g.exactly(p.base), "/"))+"/"+regex(p.parts, exact)+"$")
}
