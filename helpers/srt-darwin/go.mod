module github.com/srt-dev/srt/helpers/srt-darwin

go 1.26.0

require (
	github.com/srt-dev/srt/core v0.0.0
	golang.org/x/text v0.43.0
)

require golang.org/x/sys v0.50.0

replace github.com/srt-dev/srt/core => ../../core
