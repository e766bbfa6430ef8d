package sandbox

import (
	"context"
	"log/slog"
)

// Option changes how a Manager works.
type Option func(*options)

type options struct {
	libexec string
	dir     string
	ask     AskFunc
	log     *slog.Logger
	audit   bool
	files   bool
	explain bool
}

// Question is a connection to a host that is on no list.
type Question struct {
	Host    string
	Port    int
	Key     string // attribution key of the command
	Command string // its text
}

// AskFunc decides whether the command may connect, this once. It is called from a goroutine of its own for each question; an answer
// that takes more than 30 seconds comes too late, and the connection is refused. ctx ends with the Manager. It is never asked for a host
// on deniedDomains, nor under strictAllowlist.
type AskFunc func(ctx context.Context, q Question) (allow bool)

// WithAsk answers for hosts that are on no list. Without it they are refused.
func WithAsk(ask AskFunc) Option { return func(o *options) { o.ask = ask } }

// WithLogger gets warnings, notes, and what srt's own processes write to stderr. Without it they are dropped.
func WithLogger(log *slog.Logger) Option { return func(o *options) { o.log = log } }

// WithLibexec names the directory that holds srt's programs, absolute: the libexec/srt of an installation. Without it that is
// ../libexec/srt as seen from the program that runs. The programs must belong to root or to the user, and nobody else may be able to
// change them.
func WithLibexec(dir string) Option { return func(o *options) { o.libexec = dir } }

// WithDir is where relative paths of the Config start, and where commands run that name no directory. It is absolute; without it that
// is the working directory at the time of New.
func WithDir(dir string) Option { return func(o *options) { o.dir = dir } }

// WithAudit makes Events tell of allowed connections too.
func WithAudit() Option { return func(o *options) { o.audit = true } }

// WithFileAudit makes Events tell of names that commands were let create too: files, directories, links, sockets, and what was moved to
// where. It costs two look-ups for each. Like refusals they are never waited for: equal ones within two seconds become one with a Count,
// and more than some hundred different ones in that time are only counted.
func WithFileAudit() Option { return func(o *options) { o.files = true } }

// WithReadDenials reports refused reads too. It costs a notification for every file that a command opens.
func WithReadDenials() Option { return func(o *options) { o.explain = true } }

// CommandOption changes one command; see Cmd.With.
type CommandOption func(*commandOptions)

type commandOptions struct{ id, text string }

// WithCommandID sets the attribution key: violations of the command are found under it, and network lists that are registered under it
// hold for the command. Keys are compared on their first 100 characters. Without it the key is the command's text.
func WithCommandID(id string) CommandOption { return func(o *commandOptions) { o.id = id } }

// WithCommandText sets the command's text: what ignoreViolations patterns match and what is reported. Without it that is its words as
// a shell would need them.
func WithCommandText(text string) CommandOption { return func(o *commandOptions) { o.text = text } }
