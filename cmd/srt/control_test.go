package main

import (
	"bufio"
	"strings"
	"testing"
)

func TestReadLine(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []string // "LONG" for one over the limit
	}{
		"lines":                     {"a\nb\n", []string{"a", "b"}},
		"the last without its end":  {"a\nb", []string{"a", "b"}},
		"nothing":                   {"", nil},
		"one that is too long":      {strings.Repeat("x", 100) + "\nb\n", []string{"LONG", "b"}},
		"too long up to the end":    {"a\n" + strings.Repeat("x", 100), []string{"a", "LONG"}},
		"longer than the buffer":    {strings.Repeat("y", 60) + "\nb\n", []string{strings.Repeat("y", 60), "b"}},
		"just as long as may be":    {strings.Repeat("y", 63) + "\n", []string{strings.Repeat("y", 63)}},
		"one byte more than may be": {strings.Repeat("y", 64) + "\n", []string{"LONG"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := bufio.NewReaderSize(strings.NewReader(tc.in), 16)
			var got []string
			for {
				line, long, err := readLine(r, 64)
				switch text := strings.TrimSuffix(string(line), "\n"); {
				case long:
					got = append(got, "LONG")
				case text != "":
					got = append(got, text)
				}
				if err != nil {
					break
				}
			}
			if strings.Join(got, "|") != strings.Join(tc.want, "|") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
