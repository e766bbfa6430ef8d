package sd

import (
	"fmt"
	"strings"
)

// String gives the descriptor as SDDL, with every SID and every mask spelt out, so that a golden file needs no table beside it.
func (d Descriptor) String() string {
	var b strings.Builder
	if d.Owner != "" {
		fmt.Fprintf(&b, "O:%s", d.Owner)
	}
	if d.Group != "" {
		fmt.Fprintf(&b, "G:%s", d.Group)
	}
	b.WriteString("D:")
	if d.Protected {
		b.WriteString("P")
	}
	if d.AutoInherited {
		b.WriteString("AI")
	}
	if d.NoDACL {
		b.WriteString("NO_ACCESS_CONTROL")
	}
	for _, a := range d.DACL {
		b.WriteString(a.String())
	}
	return b.String()
}

// String gives one entry as SDDL. One that srt does not understand is shown as its kind and size, which no system reads.
func (a ACE) String() string {
	if a.Opaque != nil {
		return fmt.Sprintf("(kind %d, %d bytes)", a.Kind, len(a.Opaque))
	}
	kind := "A"
	if a.Kind == Deny {
		kind = "D"
	}
	var flags string
	for _, f := range []struct {
		bit  byte
		text string
	}{{ObjectInherit, "OI"}, {ContainerInherit, "CI"}, {NoPropagate, "NP"}, {InheritOnly, "IO"}, {Inherited, "ID"}} {
		if a.Flags&f.bit != 0 {
			flags += f.text
		}
	}
	return fmt.Sprintf("(%s;%s;0x%x;;;%s)", kind, flags, a.Mask, a.SID)
}
