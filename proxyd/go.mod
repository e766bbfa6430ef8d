module github.com/srt-dev/srt/proxyd

go 1.26.0

require (
	github.com/armon/go-socks5 v0.0.0-20160902184237-e75332964ef5
	github.com/elazarl/goproxy v1.9.3
	github.com/srt-dev/srt/core v0.0.0
	golang.org/x/net v0.62.0
	golang.org/x/sys v0.50.0
)

require golang.org/x/text v0.43.0 // indirect

replace github.com/srt-dev/srt/core => ../core
