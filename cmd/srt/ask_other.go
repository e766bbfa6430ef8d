//go:build !linux && !darwin

package main

import "time"

func dropTyped(int) {}

func readAnswer(int, time.Time) (string, bool) { return "", false }
