package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is the Store of a real user: one file in a directory of the user's own, which no command may enter.
type File struct{ Dir string }

const (
	dataName = "acl-journal.json"
	lockName = "acl-journal.lock"
)

// Lock waits for the other processes of this user.
func (f File) Lock() (func() error, error) {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(f.Dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(lock); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock.Close, nil // closing gives the lock up
}

// Load reads the journal, nil when there is none yet.
func (f File) Load() ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(f.Dir, dataName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Save writes the journal beside the old one, flushes it to disk and puts it in place.
func (f File) Save(b []byte) (err error) {
	t, err := os.CreateTemp(f.Dir, dataName+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(t.Name()))
		}
	}()
	_, err = t.Write(b)
	if err := errors.Join(err, t.Sync(), t.Close()); err != nil {
		return fmt.Errorf("write %q: %w", t.Name(), err)
	}
	return os.Rename(t.Name(), filepath.Join(f.Dir, dataName))
}
