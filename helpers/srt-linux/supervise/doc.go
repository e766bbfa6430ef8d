// Package supervise performs, on behalf of a sandboxed command, the system calls that need a decision by name: those that make a
// name come into being (open with O_CREAT, mkdir, mknod, rename, link, symlink, bind) and those that reach a unix socket (connect).
// The command's seccomp filter sends them here (see Notified); the supervisor copies the arguments once, resolves them to
// descriptors inside the sandbox's own mounts, judges, performs the call on what it judged and hands the result back.
//
// It must never let a judged call continue in the command (pointers and descriptor numbers can change after the look), never act
// with a capability, never follow a magic link of /proc as itself, and never wait for one caller while others queue.
// When it cannot go on it returns from Serve, and the init ends the whole tree.
//
// # Why removal is not supervised
//
// unlink and rmdir are not notified. A protected path that exists carries a mount, so unlink and rmdir of it fail with EBUSY and a
// directory above it never gets empty; rename is supervised and refuses to move a directory that has such a mount below it. A
// protected path that does not exist has nothing to remove, and rules are about paths, so removing the directory it would lie in and
// making it anew changes nothing for NamePath and NameGlob. NameSequence rules hold in directories that existed when the command
// started: a directory that was removed and made again is the command's own, which the contract allows. Supervising removal would
// not close that (cp -a, rm -r, mv does the same) and would cost 20,000 notifications for one rm -rf node_modules.
//
// # Locking
//
// A name that no rule mentions is created without any lock: wherever the path leads, the last component is the one that was read.
// Supervisor.moves makes "decide, then perform" one step for the rest: whatever was judged by its path holds it shared, and so do
// mkdir, link and the rename of a file; the rename of a directory, a rename onto a component of a rule, and bind hold it alone.
//
// # What the command can tell, and what is left open
//
//	SO_PEERCRED of a connection shows the supervisor (pid 0 inside, the same uid).
//	A Landlock domain that the command put on itself does not bind what the supervisor performs for it: srt's own limits do.
//	With no free descriptor left an open has created its file before it fails with EMFILE.
//	A writer that waits for a FIFO's reader misses one that opens it without waiting and is gone again within 40 ms.
//	A socket path below /proc or /dev/fd is shown by getsockname as a name relative to its directory.
//	A thread that waits in an open or connect gets EINTR for a signal of its process that no other thread takes, also with SA_RESTART.
//	An open through the supervisor never makes a terminal the caller's controlling terminal (O_NOCTTY).
//	In directories that ignore case, a name of a rule that is not ASCII is compared by simple folding only.
//	Two sandboxes that work together in one writable tree can move a directory between the other's judgement and call.
package supervise
