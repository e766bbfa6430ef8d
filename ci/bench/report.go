package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// series is one measured thing against its floor, a pair a round.
type series struct {
	name, unit, floor string
	ours, floors      []float64
	ratios            []float64
}

func newSeries(name, unit, floor string) *series {
	return &series{name: name, unit: unit, floor: floor}
}

func (s *series) add(ours, floor float64) {
	s.ours = append(s.ours, ours)
	s.floors = append(s.floors, floor)
	if floor != 0 {
		s.ratios = append(s.ratios, ours/floor)
	}
}

type report struct {
	rows  []*series
	files int
}

func (r *report) add(s ...*series) { r.rows = append(r.rows, s...) }

// nextFile numbers settings files.
func (r *report) nextFile() int {
	r.files++
	return r.files
}

func (r *report) markdown(machine string) string {
	var b strings.Builder
	b.WriteString("# Benchmarks\n\nWritten by `scripts/bench`. Each line is measured in pairs with its floor, in one run; a ratio is the median of the ratios of the rounds,\nso it holds where milliseconds do not. ")
	fmt.Fprintf(&b, "%s.\n\n| what | srt | floor | ratio | budget | rounds |\n|---|---:|---:|---:|---|---:|\n", machine)
	for _, s := range r.rows {
		fmt.Fprintf(&b, "| %s | %s | %s (%s) | %.2f | %s | %d |\n", s.name, number(median(s.ours), s.unit), number(median(s.floors), s.unit), s.floor, median(s.ratios), verdict(s), len(s.ours))
	}
	return b.String()
}

func number(v float64, unit string) string {
	digits := 1
	switch {
	case v >= 100 || unit == "":
		digits = 0
	case v < 10:
		digits = 2
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, v, unit))
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	mid := len(v) / 2
	if len(v)%2 == 1 {
		return v[mid]
	}
	return (v[mid-1] + v[mid]) / 2
}

// machine says what was measured on what.
func machine(srt string) string {
	version, err := exec.Command(srt, "--version").Output()
	if err != nil {
		version = []byte("srt of unknown version")
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Join(strings.Fields(string(text))[:3], " ")
	}
	kernel := "unknown"
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel = strings.TrimSpace(string(text))
	}
	return fmt.Sprintf("%s, %s, %s/%s, %d processors, kernel %s, load %s, as uid %d",
		strings.TrimSpace(string(version)), time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), kernel, load, os.Getuid())
}
