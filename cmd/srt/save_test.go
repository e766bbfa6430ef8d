package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSaveDomain(t *testing.T) {
	for name, tc := range map[string]struct{ before, want string }{
		"a list that has entries": {
			`{"network": {"allowedDomains": ["a.example"]}}`,
			`{"network": {"allowedDomains": ["a.example","b.example:8080"]}}`},
		"an empty list": {
			`{"network": {"allowedDomains": []}}`,
			`{"network": {"allowedDomains": ["b.example:8080"]}}`},
		"a network without the list": {
			`{"network": {"deniedDomains": ["x.example"]}}`,
			`{"network": {"deniedDomains": ["x.example"],"allowedDomains":["b.example:8080"]}}`},
		"nothing about the network": {
			`{"filesystem": {"allowWrite": ["."]}}`,
			`{"filesystem": {"allowWrite": ["."]},"network":{"allowedDomains":["b.example:8080"]}}`},
		"comments stay": {
			"// mine\n{\"network\": {\"allowedDomains\": [\n\t\"a.example\", // why\n]}}\n",
			"// mine\n{\"network\": {\"allowedDomains\": [\n\t\"a.example\", // why\n\"b.example:8080\"\n]}}\n"},
		"a file that is not there": {"", `{"network":{"allowedDomains":["b.example:8080"]}}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "settings.json")
			if tc.before != "" {
				if err := os.WriteFile(path, []byte(tc.before), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			before, _ := os.Stat(path)
			if err := saveDomain(path, "b.example:8080"); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != tc.want {
				t.Errorf("got %q (%v), want %q", got, err, tc.want)
			}
			if after, _ := os.Stat(path); before != nil && !os.SameFile(before, after) {
				t.Error("the file was replaced: its mount in a running sandbox would be gone")
			}
		})
	}
	t.Run("a broken file is left alone", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(`{"network": {"allowedDomain": []}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := saveDomain(path, "b.example:8080"); err == nil {
			t.Error("no error")
		}
		if got, _ := os.ReadFile(path); string(got) != `{"network": {"allowedDomain": []}}` {
			t.Errorf("the file is now %q", got)
		}
	})
}
