package profile

import "github.com/srt-dev/srt/helpers/srt-darwin/sbpl"

// baseRule is a fixed rule. Filters of one rule are alternatives.
type baseRule struct {
	action  string
	ops     string // separated by blanks
	filters []sbpl.Node
	why     string
}

func one(head, arg string) sbpl.Node { return sbpl.L(head, sbpl.Str(arg)) }

func target(who string) []sbpl.Node { return []sbpl.Node{sbpl.L("target", sbpl.Sym(who))} }

// base are the rules that every profile begins with: what programs need that has nothing to do with the policy, and what Seatbelt
// would allow by itself. Reading files is not among them: it is the policy's business.
var base = []baseRule{
	{"allow", "process-exec*", nil, "run programs; children inherit the profile, and set-user-ID programs are refused by the kernel"},
	{"allow", "process-fork", nil, "every shell"},
	{"allow", "signal", target("same-sandbox"), "kill and job control among the command's own processes, nobody else"},
	{"deny", "process-info*", nil, "version 1 allows it by itself: arguments and open files of every process of the user"},
	{"allow", "process-info*", target("same-sandbox"), "ps-like questions about the command's own processes; setpriority, thread names"},
	{"allow", "mach-priv-task-port", target("same-sandbox"), "debuggers and crash reporters on the command's own processes"},
	{"allow", "user-preference-read", nil, "locale and developer tools; the files are still judged by the read rules, and cfprefsd is out of reach"},
	{"allow", "ipc-posix-sem", nil, "Python's multiprocessing locks"},
	{"allow", "ipc-posix-shm", nil, "OpenMP, PyTorch, Python's shared_memory"},
}

// guarded are denials of operations that version 1 allows by itself and that not every release knows.
var guarded = []struct{ op, why string }{
	{"nvram*", "firmware variables"},
	{"fs-snapshot-mount", "root: a snapshot shows every file under another path"},
	{"file-graft", "root: a disk image grafted over a directory"},
	{"file-ungraft", "root: the same undone"},
}

// machServices may be looked up by every command.
var machServices = []struct{ name, why string }{
	{"com.apple.system.opendirectoryd.libinfo", "getpwuid, getaddrinfo of /etc/hosts: shells, git, ssh"},
	{"com.apple.system.opendirectoryd.membership", "groups of the user: id, sudo -l, file managers"},
	{"com.apple.system.notification_center", "notify(3): libc learns of time zone changes"},
	{"com.apple.bsd.dirhelper", "confstr: the user's own temporary and cache directories, for xcrun, clang and swift"},
}

// trustServices are looked up by those who let the system verify certificates (enableWeakerNetworkIsolation): Go, gh, gcloud.
// com.apple.SecurityServer is not among them: it hands out the passwords of the login keychain that /usr/bin/security or git have put there.
var trustServices = []struct{ name, why string }{
	{"com.apple.trustd.agent", "verifies certificates; may fetch what they point to, which is why it is not open by default"},
	{"com.apple.securityd.xpc", "the store of certificates that SecTrust reads; gives keychain items only to programs with an entitlement for them"},
}

// appleEventServices are looked up by open(1) and osascript (allowAppleEvents).
var appleEventServices = []struct{ name, why string }{
	{"com.apple.coreservices.appleevents", "sends the events"},
	{"com.apple.coreservices.launchservicesd", "finds and starts the application"},
	{"com.apple.CoreServices.coreservicesd", "the same on macOS 14 and 15"},
	{"com.apple.coreservices.quarantine-resolver", "looks at the quarantine mark of what is opened"},
	{"com.apple.lsd.mapdb", "the table of applications"},
}

// sysctls are what may be read. A prefix, because the list of single names that Node and OpenSSL need changes with each release.
var sysctls = []struct{ prefix, why string }{
	{"hw.", "processor, memory and cache sizes: every runtime"},
	{"kern.", "release, host name, limits: every runtime"},
	{"machdep.cpu.", "processor features: OpenSSL, Go, JVMs"},
	{"machdep.ptrauth_enabled", "pointer authentication: dyld, JITs"},
	{"security.mac.lockdown_mode_state", "lockdown mode: JITs"},
	{"sysctl.proc_cputype", "Rosetta: universal programs"},
	{"sysctl.proc_translated", "Rosetta: universal programs"},
	{"vm.loadavg", "os.loadavg, make -l"},
	{"net.routetable.", "getifaddrs: os.networkInterfaces of Node, dev servers that print their address"},
}

// hiddenSysctls are below those prefixes and speak of other processes.
var hiddenSysctls = []struct{ prefix, why string }{
	{"kern.proc", "kern.proc.*: the process table; kern.procargs2.*: arguments and environment of every process of the user"},
}

// writableSysctls are written by programs that mean no harm.
var writableSysctls = []struct{ name, why string }{
	{"kern.tcsm_enable", "V8 asks for it on each thread"},
	{"kern.grade_cputype", "JVMs: a question that is counted as writing"},
}

// devices may be used by everybody. All others are closed, whatever the policy says of /dev: other terminals would tell what the user
// types there, packet filters the network.
var devices = []struct{ path, why string }{
	{"/dev/null", "redirections"},
	{"/dev/zero", "redirections"},
	{"/dev/random", "seeding"},
	{"/dev/urandom", "seeding"},
	{"/dev/tty", "the command's own terminal, if it has one"},
}

// readableDevices are opened for reading by system libraries, without need but with noise.
var readableDevices = []struct{ path, why string }{
	{"/dev/dtracehelper", "the dynamic linker of every program"},
	{"/dev/autofs_nowait", "CoreFoundation, so as not to wait for network volumes"},
}

// tiocsti puts bytes into the input of a terminal: the shell that started srt would run them. Decimal, because neither its name nor a
// hexadecimal number is understood by every release.
const tiocsti = "2147578994"
