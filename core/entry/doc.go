// Package entry is how a Linux sandbox is entered: the bubblewrap that is trusted, its one command line, and when srt itself may
// execute it. It stands in core because both srt and the helper start sandboxes: a start of the helper for no more than becoming
// bubblewrap would cost a fifth of the processor time of a run. It must never look for bubblewrap on PATH.
package entry
