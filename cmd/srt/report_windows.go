package main

import (
	"os"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/core/wire"
)

// reportFile gets one line of JSON per refusal, each by one write at the end of the file, so that several runs may share it. A nil one
// takes nothing.
type reportFile struct {
	f   *os.File
	err error // the first failure
}

// openReport opens the file for appending. A command may have left a link of that name to something that srt can write and it cannot,
// so links are refused.
func openReport(path string) (*reportFile, error) {
	refuse := func(detail string) (*reportFile, error) {
		return nil, &wire.Fault{Code: wire.CodePolicy, Op: "open report", Path: path, Detail: detail}
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return refuse("its name holds a NUL")
	}
	h, err := windows.CreateFile(name, windows.FILE_APPEND_DATA|windows.SYNCHRONIZE|windows.FILE_READ_ATTRIBUTES, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE,
		nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return refuse(err.Error())
	}
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil || info.NumberOfLinks != 1 ||
		info.FileAttributes&(windows.FILE_ATTRIBUTE_REPARSE_POINT|windows.FILE_ATTRIBUTE_DIRECTORY) != 0 {
		_ = windows.CloseHandle(h)
		return refuse("it is no plain file of one name")
	}
	return &reportFile{f: os.NewFile(uintptr(h), path)}, nil
}

func (r *reportFile) write(line []byte) {
	if r != nil && r.err == nil {
		_, r.err = r.f.Write(line)
	}
}

func (r *reportFile) close() error {
	if r == nil {
		return nil
	}
	if err := r.f.Close(); r.err == nil {
		r.err = err
	}
	if r.err == nil {
		return nil
	}
	return &wire.Fault{Code: wire.CodeInternal, Op: "write report", Path: r.f.Name(), Detail: r.err.Error()}
}
