// Package winapi is the whole of Windows that srt calls, as narrow interfaces of plain values. One thin implementation talks to the
// system (files ending _windows.go), one in memory behaves as Windows does (winapi/fake). The thin one makes no decision and must
// never repair, retry or skip: whoever calls it reads back what was set and judges.
package winapi
