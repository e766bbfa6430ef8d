package violation

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/srt-dev/srt/core/wire"
)

// Report is one line of a report file.
type Report struct {
	Time      string `json:"time"` // RFC 3339, UTC, milliseconds
	CommandID string `json:"commandId"`
	Operation string `json:"operation"`
	Target    string `json:"target"`
	Verdict   string `json:"verdict"` // "deny" or "allow"
	Rule      string `json:"rule"`
	Reason    string `json:"reason"`
	Process   string `json:"process"`
	Count     int    `json:"count"`
}

// MaxTarget bounds a target in a report, in bytes: longer than any path.
const MaxTarget = 8 << 10

// ReportDenied gives the report line of a violation, with its line end. Unlike Line it keeps the target exact (a path can be used again);
// what could not be shown safely is written as JSON escapes.
func ReportDenied(v wire.Violation) []byte {
	return reportLine(Report{stamp(v.TimeMs), v.CommandID, v.Operation, v.Target, "deny", v.Rule, v.Reason, v.Process, max(1, v.Count)})
}

// ReportAllowed gives the report line of something that was allowed.
func ReportAllowed(d wire.Decision) []byte {
	verdict := "deny"
	if d.Verdict == wire.VerdictAllow {
		verdict = "allow"
	}
	return reportLine(Report{stamp(d.TimeMs), d.CommandID, d.Operation, d.Target, verdict, d.Rule, d.Reason, d.Process, max(1, d.Count)})
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func reportLine(r Report) []byte {
	if r.Operation == Network {
		r.Target, _, _ = strings.Cut(stripURLs(r.Target), "?")
	}
	r.Reason = stripURLs(r.Reason)
	for _, s := range []*string{&r.CommandID, &r.Operation, &r.Target, &r.Rule, &r.Reason, &r.Process} {
		if len(*s) > MaxTarget {
			*s = (*s)[:MaxTarget]
		}
	}
	b, err := json.Marshal(r)
	if err != nil { // a struct of texts always encodes
		return nil
	}
	var out strings.Builder
	for _, c := range string(b) {
		switch {
		case c < 0x80 && c != 0x7f || !invisible(c) && !unicode.IsControl(c) && unicode.IsPrint(c):
			out.WriteRune(c)
		default:
			for _, u := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&out, `\u%04x`, u)
			}
		}
	}
	return []byte(out.String() + "\n")
}
