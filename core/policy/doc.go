// Package policy turns a settings file and the circumstances of a run into a policy: absolute paths, checked lists, mandatory denies,
// and from them the requests to the helper and to proxyd.
//
// It computes only. It must never look at the disk, the network or the environment, and must never drop an entry that it cannot apply:
// such an entry is an error that names its place in the file.
package policy
