package oneshot

import (
	"errors"
	"io"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSealedFile(t *testing.T) {
	f, err := SealedFile([]byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || string(got) != "text" {
		t.Errorf("it holds %q, %v", got, err)
	}
	if _, err := f.WriteAt([]byte("X"), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("a write gives %v", err)
	}
	if err := f.Truncate(0); !errors.Is(err, unix.EPERM) {
		t.Errorf("a truncation gives %v", err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("a change of the seals gives %v", err)
	}
}
