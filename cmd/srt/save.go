package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailscale/hujson"

	"github.com/srt-dev/srt/core/settings"
)

func defaultSettings(home string) string { return filepath.Join(home, settings.DefaultName) }

// saveDomain adds an entry to network.allowedDomains of a settings file and keeps everything else in it, comments too. It writes into
// the file itself: a new one under the old name would fall out of the mount that keeps the running command from it.
func saveDomain(path, entry string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	old, err := io.ReadAll(io.LimitReader(f, settings.MaxBytes+1))
	if err != nil {
		return err
	}
	if len(old) == 0 {
		old = []byte("{}\n")
	}
	text, err := addDomain(old, entry)
	if err != nil {
		return &fs.PathError{Op: "change", Path: path, Err: err}
	}
	if _, err := settings.ParseLine(text); err != nil {
		return &fs.PathError{Op: "change", Path: path, Err: err}
	}
	if _, err := f.WriteAt(text, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}

// addDomain gives the text of a settings file with one more allowed domain.
func addDomain(text []byte, entry string) ([]byte, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	patch := ""
	switch {
	case v.Find("/network/allowedDomains") != nil:
		patch = `{"op":"add","path":"/network/allowedDomains/-","value":` + string(value) + `}`
	case v.Find("/network") != nil:
		patch = `{"op":"add","path":"/network/allowedDomains","value":[` + string(value) + `]}`
	default:
		patch = `{"op":"add","path":"/network","value":{"allowedDomains":[` + string(value) + `]}}`
	}
	if err := v.Patch([]byte("[" + patch + "]")); err != nil {
		return nil, err
	}
	packed := v.Pack()
	if len(packed) > settings.MaxBytes {
		return nil, errors.New("the file would be too long")
	}
	return packed, nil
}
