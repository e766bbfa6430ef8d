// Package rules holds the one table of system calls that a sandboxed command may not make, or may make only when the supervisor
// says so, and works out what that table means for an architecture and a variant of the filter.
// It is pure, runs nothing and must never allow what the table does not mention on purpose: the table is a list of refusals over
// "everything else is allowed", so a call that is newer than the table is refused by its number (see LastReviewed).
//
// # What is left alone on purpose
//
// The walls of the sandbox are namespaces, mounts, no capabilities and no-new-privs; the filter closes what those leave open.
// These calls look dangerous and are not refused, because another wall holds and real programs need them:
//
//	ptrace, process_vm_*, pidfd_getfd, kcmp   only the command's own processes are in its PID namespace: strace and gdb work
//	seccomp, prctl(PR_SET_SECCOMP)            a further filter can only refuse more; a second listener gets EBUSY from the kernel
//	personality                               gdb needs ADDR_NO_RANDOMIZE; every flag touches the caller alone
//	chroot, sethostname, mknod of devices     need a capability that the command does not have
//	name_to_handle_at                         a handle opens nothing while open_by_handle_at is refused
//	fork, vfork, clone without namespaces     ordinary processes and threads
//	SysV and POSIX queues                     the IPC namespace is the command's own
//	statmount, listmount, listns              show what /proc/self/mountinfo and /proc/self/ns show
package rules
