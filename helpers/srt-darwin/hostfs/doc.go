// Package hostfs shows the real file system to the rules: what is where, and how the disk spells it. It only looks. It must never
// follow a link that the caller did not ask about, wait for a FIFO, or change anything.
package hostfs
