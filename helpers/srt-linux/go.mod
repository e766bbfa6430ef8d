module github.com/srt-dev/srt/helpers/srt-linux

go 1.26.0

require (
	github.com/seccomp/libseccomp-golang v0.11.1
	github.com/srt-dev/srt/core v0.0.0
	golang.org/x/sys v0.50.0
)

replace github.com/srt-dev/srt/core => ../../core
