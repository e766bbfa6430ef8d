package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
)

// hello is what every tool fetches.
const hello = "hello from the origin\n"

// visibleAddress gives an address of this machine that no NO_PROXY rule spares, so that the tools go through the proxy as they would to
// any host; without a network it is 127.0.0.1 and a prefix that takes the rule away.
func visibleAddress(t *testing.T) (ip, prefix string) {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String(), ""
		}
	}
	return "127.0.0.1", "unset NO_PROXY no_proxy; "
}

// freePort gives a port of ip that nobody listens on.
func freePort(t *testing.T, ip string) string {
	t.Helper()
	ln, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return port
}

// packageOrigin serves a file, an npm package, a Python package and an apt repository, and gives its address.
func packageOrigin(t *testing.T, ip string) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	addr = ln.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, hello) })
	mux.HandleFunc("/srt-hello", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{
			"name": "srt-hello", "dist-tags": map[string]string{"latest": "1.2.3"},
			"versions": map[string]any{"1.2.3": map[string]any{"name": "srt-hello", "version": "1.2.3", "dist": map[string]string{"tarball": "http://" + addr + "/t.tgz"}}},
		})
	})
	const wheel = "srt_hello-1.2.3-py3-none-any.whl"
	mux.HandleFunc("/simple/srt-hello/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a href="/%[1]s">%[1]s</a>`, wheel)
	})
	mux.HandleFunc("/"+wheel, func(w http.ResponseWriter, _ *http.Request) { w.Write(pythonWheel(t)) })
	const packages = "Package: srt-hello\nVersion: 1.2.3\nArchitecture: all\nMaintainer: a <a@example.com>\nDescription: d\nFilename: ./x.deb\nSize: 1\nSHA256: " +
		"0000000000000000000000000000000000000000000000000000000000000000\n"
	mux.HandleFunc("/deb/Packages", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, packages) })
	mux.HandleFunc("/deb/Release", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "Date: Mon, 01 Jan 2024 00:00:00 UTC\nSHA256:\n %x %d Packages\n", sha256.Sum256([]byte(packages)), len(packages))
	})
	s := &http.Server{Handler: mux}
	t.Cleanup(func() { s.Close() })
	go s.Serve(ln)
	return addr
}

func pythonWheel(t *testing.T) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"srt_hello.py": "", "srt_hello-1.2.3.dist-info/METADATA": "Metadata-Version: 2.1\nName: srt-hello\nVersion: 1.2.3\n",
		"srt_hello-1.2.3.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "srt_hello-1.2.3.dist-info/RECORD": "",
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Error(err)
	}
	return b.Bytes()
}

// TestToolsReachAnAllowedHostUnconfigured runs what people run, with no configuration but the environment that srt makes.
func TestToolsReachAnAllowedHostUnconfigured(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "curl", "wget", "python3", "npm", "node")
	srt, _ := installReal(t)
	ip, prefix := visibleAddress(t)
	addr := packageOrigin(t, ip)
	url := "http://" + addr + "/file"
	settings := fmt.Sprintf(`{"network":{"allowedDomains":[%q]},"filesystem":{"allowWrite":["."]}}`, addr)
	type tool struct{ line, want string }
	tools := map[string]tool{
		"curl":                   {"curl -sS " + url, hello},
		"curl by SOCKS":          {"curl -sS -x socks5h://${HTTP_PROXY#http://} " + url, hello},
		"wget":                   {"wget -qO- " + url, hello},
		"Python urllib":          {`python3 -c 'import urllib.request as u; print(u.urlopen("` + url + `").read().decode())'`, hello},
		"npm":                    {"HOME=$PWD npm view --registry http://" + addr + " --cache ./c srt-hello version", "1.2.3\n"},
		"Go net/http":            {goClient(t) + " " + url, hello},
		"Node fetch":             {`node -e 'fetch("` + url + `").then(r => r.text()).then(console.log)'`, hello},
		"Node http":              {`node -e 'require("http").get("` + url + `", r => r.pipe(process.stdout))'`, hello},
		"Node fetch by old ways": {`node -e 'fetch("` + url + `").catch(e => console.log("no way:", e.cause.code))'`, "no way: E"},
	}
	if nodeReadsVariables(t) {
		delete(tools, "Node fetch by old ways")
	} else { // as docs/network.md says
		delete(tools, "Node fetch")
		delete(tools, "Node http")
	}
	optional := map[string]tool{ // where the machine has them
		"pip3": {"HOME=$PWD pip3 download -q --disable-pip-version-check --no-deps --no-cache-dir --trusted-host " + ip + " --index-url http://" + addr +
			"/simple srt-hello && ls srt_hello*", "srt_hello-1.2.3-py3-none-any.whl\n"},
		"apt-get": {"mkdir -p l/partial c/partial && echo 'deb [trusted=yes] http://" + addr + "/deb ./' >s && apt-get update -o APT::Sandbox::User= " +
			"-o Dir::Etc::SourceList=$PWD/s -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$PWD/l -o Dir::Cache=$PWD/c", "/deb ./ Packages ["},
	}
	for name, c := range optional {
		if _, err := exec.LookPath(name); err == nil {
			tools[name] = c
		}
	}
	if exec.Command("python3", "-c", "from pip._vendor import requests").Run() == nil {
		tools["Python requests"] = tool{`python3 -c 'from pip._vendor import requests as r; print(r.get("` + url + `").text)'`, hello}
	}
	if out, err := exec.Command("java", "--list-modules").Output(); err == nil && strings.Contains(string(out), "jdk.compiler") {
		tools["java"] = tool{"cat >F.java <<'E'\nclass F { public static void main(String[] a) throws Exception { " +
			"new java.net.URL(\"" + url + "\").openStream().transferTo(System.out); } }\nE\njava F.java", hello}
	}
	for name, c := range tools {
		t.Run(name, func(t *testing.T) {
			out, err := withSettings(t, srt, t.TempDir(), settings, "-c", prefix+c.line)
			if !strings.Contains(out, c.want) {
				t.Errorf("%v\n%s\nlacks %q", err, out, c.want)
			}
		})
	}
}

// goClient makes a program that fetches a URL as Go programs do: this test's binary by another name.
func goClient(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "go-client")
	if err := link(self, program); err != nil {
		t.Fatal(err)
	}
	return program
}

func goClientMain(url string) int {
	r, err := http.Get(url)
	if err == nil {
		_, err = io.Copy(os.Stdout, r.Body)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// nodeReadsVariables says whether this Node knows NODE_USE_ENV_PROXY.
func nodeReadsVariables(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command("node", "-p", `const [a, b] = process.versions.node.split(".").map(Number); a >= 24 || a == 22 && b >= 21`).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)) == "true"
}

// start runs a server until the end of the test and waits until it listens on addr.
func start(t *testing.T, addr string, argv ...string) {
	t.Helper()
	server := exec.Command(argv[0], argv[1:]...)
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for range 200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("%q does not listen: %s", argv, said.String())
}

func write(t *testing.T, dir, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRsyncReachesAnAllowedDaemon(t *testing.T) {
	srttest.RequireBwrap(t)
	rsync := srttest.RequireTool(t, "rsync")
	srt, _ := installReal(t)
	ip, prefix := visibleAddress(t)
	port, dir := freePort(t, ip), t.TempDir()
	write(t, dir, "file", hello)
	conf := write(t, dir, "conf", "use chroot = no\nlog file = /dev/null\n[m]\npath = "+dir+"\nuid = "+fmt.Sprint(os.Getuid())+"\n")
	start(t, ip+":"+port, rsync, "--daemon", "--no-detach", "--config="+conf, "--address="+ip, "--port="+port)
	settings := fmt.Sprintf(`{"network":{"allowedDomains":["%s:%s"]},"filesystem":{"allowWrite":["."]}}`, ip, port)
	out, err := withSettings(t, srt, t.TempDir(), settings, "-c", prefix+"rsync rsync://"+ip+":"+port+"/m/file copy && cat copy")
	if err != nil || out != hello {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = withSettings(t, srt, t.TempDir(), `{"filesystem":{"allowWrite":["."]}}`, "-c", prefix+"rsync rsync://"+ip+":"+port+"/m/file copy")
	if err == nil || !strings.Contains(out, "403 Connection blocked by network allowlist") {
		t.Errorf("without the host on the list: %v\n%s", err, out)
	}
}

// TestGitClonesOverSSH uses OpenSSH's server where the machine has one: installing it would start a service.
func TestGitClonesOverSSH(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "ssh", "ssh-keygen", "git")
	srt, _ := installReal(t)
	ip, prefix := visibleAddress(t)
	port, dir := freePort(t, ip), t.TempDir()
	gitIn(t, dir, "init", "-q", "--bare", "-b", "main", "repo.git")
	const sshd = "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil || os.Getuid() != 0 {
		port = "22" // only the refusal can be shown
	} else {
		for _, key := range []string{"host", "user"} {
			if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
				t.Fatalf("ssh-keygen: %v\n%s", err, out)
			}
		}
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
		conf := write(t, dir, "conf", fmt.Sprintf("Port %[1]s\nListenAddress %[2]s\nHostKey %[3]s/host\nAuthorizedKeysFile %[3]s/user.pub\nStrictModes no\nPidFile none\nPermitRootLogin yes\n",
			port, ip, dir))
		start(t, ip+":"+port, sshd, "-D", "-e", "-f", conf)
	}
	for name, allowed := range map[string]bool{"on the list": true, "not on the list": false} {
		if port == "22" && allowed {
			continue
		}
		t.Run(name, func(t *testing.T) {
			domains := []string{}
			if allowed {
				domains = append(domains, ip+":"+port)
			}
			list, _ := json.Marshal(domains)
			settings := fmt.Sprintf(`{"network":{"allowedDomains":%s},"filesystem":{"allowWrite":["."]}}`, list)
			t.Setenv("GIT_SSH_COMMAND", "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -i "+filepath.Join(dir, "user"))
			out, err := withSettings(t, srt, t.TempDir(), settings, "-c", prefix+"git clone ssh://root@"+ip+":"+port+dir+"/repo.git copy && ls -d copy/.git")
			if allowed && (err != nil || !strings.Contains(out, "copy/.git\n")) {
				t.Errorf("%v\n%s", err, out)
			}
			if !allowed && (err == nil || !strings.Contains(out, "not on the allow list") && !strings.Contains(out, "blocked by network allowlist")) {
				t.Errorf("%v\n%s", err, out)
			}
			out, err = withSettings(t, srt, t.TempDir(), settings, "-c", prefix+`eval "$GIT_SSH_COMMAND -p `+port+" root@"+ip+` echo by itself"`)
			if allowed && (err != nil || !strings.Contains(out, "by itself\n")) || !allowed && (err == nil || !strings.Contains(out, "allow")) {
				t.Errorf("ssh as docs/network.md says: %v\n%s", err, out)
			}
		})
	}
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", slices.Concat([]string{"-C", dir}, args)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}
