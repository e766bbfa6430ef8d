// Package escape holds the project's escape tests: the built srt runs the test binary, which attacks the sandbox from inside, and what
// counts is what stands outside afterwards. One file a class of attack; every attack also runs without a sandbox, where it must
// succeed, or its failure inside would prove nothing. It has no code besides its tests.
package escape
