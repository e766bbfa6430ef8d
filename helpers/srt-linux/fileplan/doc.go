// Package fileplan turns the file policy of one command into the view that the init mounts and the supervisor judges names by. It
// looks at the real file system on the host, before anything is started, and it must never change it, follow a link that a command
// could have planted onto the host, or block on what it finds (a FIFO named ".git/config", an automount, a device).
package fileplan
