// Package profile writes the Seatbelt profile of one command. It is pure: the same request gives the same text on every system. It
// must never write a rule that macOS would read in two ways, or one that matches nothing: what cannot be said safely is an error.
//
// Rules for a narrower operation always stand behind those for a wider one, so that it does not matter whether Seatbelt looks at
// the operation first or at the order of the text: package sbpltest judges each profile both ways. Denials match names without
// regard to case, because the volume probably does; allowances name exactly what is on the disk.
//
// It imports golang.org/x/text/unicode/norm: APFS and HFS+ take the composed and the decomposed form of a name for the same.
package profile
