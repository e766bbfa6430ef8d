// Package srttest says what a test needs from the machine: root, an ordinary user, bubblewrap, user namespaces, tools, built binaries.
// A test that does not get it is skipped, unless NoSkip is set: then it fails, so that scripts/test can never be green because
// nothing ran. Tests for root and tests for an ordinary user exclude each other and are always skipped on the other side;
// scripts/test runs both sides and checks that every test ran on one of them.
// It must never be imported by anything but tests.
package srttest
