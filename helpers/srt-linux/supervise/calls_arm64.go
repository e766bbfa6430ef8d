package supervise

import "golang.org/x/sys/unix"

// legacy are the calls that newer architectures do not have.
var legacy []Call

// modern rewrites a legacy call as the one that replaced it.
func modern(d *seccompData) {
	if d.Nr == unix.SYS_RENAMEAT {
		d.Nr, d.Args[4] = unix.SYS_RENAMEAT2, 0
	}
}
