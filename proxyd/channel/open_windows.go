package channel

import "os"

// open takes the standard streams: srt made them for the conversation. Descriptors have no numbers here.
func open(uintptr) (transport, error) { return newPiped(os.Stdin, os.Stdout), nil }
