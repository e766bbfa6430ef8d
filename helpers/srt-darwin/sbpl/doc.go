// Package sbpl reads and writes the S-expressions of Seatbelt profiles. It is pure, knows the syntax and nothing of its
// meaning, and must never write a string that sandbox-exec could read as anything but the same bytes: what cannot be written safely is an error.
package sbpl
