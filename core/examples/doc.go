// Package examples holds programs that embed srt, each in a directory of its own. Its test builds and runs them. They must never show
// anything that a program should not do.
package examples
