package policy

import (
	"strings"

	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// protected is every name that cannot be written in any writable directory, whatever the settings allow there: something outside the
// sandbox reads it later and runs what it says. A name with "/" is a sequence of components.
var protected = [...]wire.Protected{
	{Name: ".gitconfig", Reason: "git runs aliases, pagers, filters and fsmonitor from it"},
	{Name: ".gitmodules", Reason: "git fetches from the URLs in it, and update = !command runs one"},
	{Name: ".git/hooks", Dir: true, Reason: "git runs these on commit, checkout, push"},
	{Name: ".git/config", Reason: "core.hooksPath, core.fsmonitor, filters and aliases run commands"},

	{Name: ".bashrc", Reason: "every interactive bash runs it"},
	{Name: ".bash_profile", Reason: "login bash runs it"},
	{Name: ".bash_login", Reason: "login bash runs it when there is no .bash_profile"},
	{Name: ".bash_logout", Reason: "login bash runs it at its end"},
	{Name: ".profile", Reason: "login shells and desktop sessions run it"},
	{Name: ".zshenv", Reason: "every zsh runs it, scripts too"},
	{Name: ".zprofile", Reason: "login zsh runs it"},
	{Name: ".zshrc", Reason: "interactive zsh runs it"},
	{Name: ".zlogin", Reason: "login zsh runs it"},
	{Name: ".zlogout", Reason: "login zsh runs it at its end"},
	{Name: ".envrc", Reason: "direnv runs it on cd"},
	{Name: ".ripgreprc", Reason: "--pre in it makes ripgrep run a command for each file"},

	{Name: ".vscode", Dir: true, Reason: "tasks.json and settings.json run commands when the folder is opened"},
	{Name: ".idea", Dir: true, Reason: "run configurations and file watchers run commands"},
	{Name: ".mcp.json", Reason: "agents start the servers that it names"},
	{Name: ".claude/commands", Dir: true, Reason: "agents run the commands in it"},
	{Name: ".claude/agents", Dir: true, Reason: "agents take instructions and permissions from it"},
	{Name: ".claude/hooks", Dir: true, Reason: "agents run these around each tool call"},
	{Name: ".claude/settings.json", Reason: "names hooks and permissions of agents"},
	{Name: ".claude/settings.local.json", Reason: "names hooks and permissions of agents"},
}

const (
	gitHooks  = ".git/hooks"
	gitConfig = ".git/config"
)

// ProtectedNames gives the table of mandatory denies, for documentation.
func ProtectedNames() []wire.Protected { return clone(protected[:]) }

// defaultDepth is mandatoryDenySearchDepth when the settings do not say.
const defaultDepth = 3

func checkProtected(r *resolver) error {
	lifted := map[string]bool{gitConfig: r.f.Filesystem.AllowGitConfig}
	for i, name := range r.f.Filesystem.AllowProtected {
		known := strings.TrimSuffix(name, "/")
		if !isProtected(known) {
			return r.f.Errorf(quote(name)+" is not the name of a mandatory deny", protectedHint(known), "filesystem", "allowProtected", i)
		}
		lifted[known] = true
		r.p.lifted = append(r.p.lifted, known)
	}
	d := r.f.MandatoryDenySearchDepth
	if d < 0 || d > 10 {
		return r.f.Errorf("the depth is out of range", "write a whole number from 1 to 10", "mandatoryDenySearchDepth")
	}
	if d == 0 {
		d = defaultDepth
	}
	files := &r.p.files
	files.ScanDepth = d
	if files.Disabled {
		return nil
	}
	files.GitConfig = lifted[gitConfig]
	files.GitRules = !(lifted[gitConfig] && lifted[gitHooks]) // who may write both can make git run anything anyway
	for _, p := range protected {
		if !lifted[p.Name] {
			files.Protected = append(files.Protected, p)
		}
	}
	return nil
}

func isProtected(name string) bool {
	for _, p := range protected {
		if p.Name == name {
			return true
		}
	}
	return false
}

func protectedHint(name string) string {
	names := make([]string, len(protected))
	for i, p := range protected {
		names[i] = p.Name
	}
	if best := settings.Nearest(name, names); best != "" {
		return "did you mean " + quote(best) + "?"
	}
	return "the names are " + strings.Join(names, ", ")
}
