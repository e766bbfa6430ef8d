module github.com/srt-dev/srt/cmd/srt

go 1.26.0

require (
	github.com/rogpeppe/go-internal v1.16.0
	github.com/srt-dev/srt/core v0.0.0
	github.com/tailscale/hujson v0.0.0-20260727124030-b80ff77dac4f
	golang.org/x/sys v0.50.0
)

require (
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)

replace github.com/srt-dev/srt/core => ../../core
