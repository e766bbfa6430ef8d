package pluginrpc

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"
)

const exe = ".exe"

// another gives the program self another name in a new folder. Go cannot remove folders on Wine 8, so it stays there.
func another(t *testing.T, self, name string) (string, error) {
	dir, err := os.MkdirTemp("", "srt-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".exe")
	t.Cleanup(func() { _ = os.Remove(path) })
	return path, os.Link(self, path)
}

func leadsSession() bool { return false }

func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	e, err := windows.WaitForSingleObject(h, 0)
	return err == nil && e == uint32(windows.WAIT_TIMEOUT)
}

// standOnPort has nothing to do: go-plugin does.
func standOnPort() error { return nil }
