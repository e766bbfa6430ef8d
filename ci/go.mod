module github.com/srt-dev/srt/ci

go 1.26
