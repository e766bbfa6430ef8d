// Package prove tries the sandbox for real: a command under a profile attempts what must be refused and what must work, and the same
// attempts without a profile show that the profile is what refuses them. Its attempts work outside of a sandbox, so it must never
// touch anything but the stage that it made for them.
package prove
