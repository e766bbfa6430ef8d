// Package sd is what srt knows of Windows security descriptors, as plain values: SIDs, access masks, ACEs, canonical order,
// inheritance, the self-relative byte form, SDDL text and a model of AccessCheck. It is pure: it calls no system, and it must never
// reorder or drop an entry that it does not understand.
package sd
