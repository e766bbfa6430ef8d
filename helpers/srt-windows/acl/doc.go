// Package acl plans the access entries that one command needs on the user's files, and says which identifiers its token must carry.
// It reads access lists and changes none: the journal does that, and remembers. It must never plan an entry for anybody but the sandbox
// group and the identifiers of writable roots, never one that takes a right away from the user, and never replace a list.
//
// What the rules of core/pathrule say of a path becomes, in this order:
//
//	hidden          deny everything but being looked at; deny everything below
//	read only       grant reading; where something above is writable, deny every change
//	writable        grant changes to the group and to the root's own identifier, without moving the root itself
//
// Windows keeps a list on each object, explicit entries before inherited ones. So an entry is written where the answer changes, and on
// objects below whose own list would say otherwise. Directories above a denied path get a denial of being moved.
package acl
