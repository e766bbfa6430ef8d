# shellcheck shell=bash
# Finds Go, for scripts that need it; sourced.
if ! command -v go >/dev/null && [ -x /usr/local/go/bin/go ]; then
	PATH=$PATH:/usr/local/go/bin
fi
if ! command -v go >/dev/null; then
	echo "${0##*/}: Go 1.26 or newer is needed to build srt: https://go.dev/dl/" >&2
	exit 1
fi
