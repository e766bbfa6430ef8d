// Package bench holds the benchmarks of proxyd against direct connections and a bare relay, in one process. It has no code of its own.
package bench
