package main

import (
	"path/filepath"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/helper"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

func newHelper(commit string) (wire.Helper, error) {
	real, err := winapi.New()
	if err != nil {
		return nil, err
	}
	store, err := helper.UserStore(real)
	if err != nil {
		return nil, err
	}
	self, err := real.Executable()
	if err != nil {
		return nil, err
	}
	return helper.New(real, store, commit, filepath.Join(filepath.Dir(self), "srt-windows.exe")), nil
}
