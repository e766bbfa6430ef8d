package sd

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Bits of a descriptor's control word.
const (
	ctlDACLPresent       = 0x0004
	ctlDACLAutoInherited = 0x0400
	ctlDACLProtected     = 0x1000
	ctlSelfRelative      = 0x8000
)

const (
	headerSize = 20
	aclHeader  = 8
	maxACL     = 0xFFFF // an access list says its size in 16 bits
)

// ErrTooLong says that an access list has no room for another entry.
var ErrTooLong = errors.New("the access list is full (64 KiB)")

// Encode gives the self-relative bytes that Windows reads. The audit list is never part of it.
func (d Descriptor) Encode() ([]byte, error) {
	control := uint16(ctlSelfRelative)
	if !d.NoDACL {
		control |= ctlDACLPresent
	}
	if d.Protected {
		control |= ctlDACLProtected
	}
	if d.AutoInherited {
		control |= ctlDACLAutoInherited
	}
	b := make([]byte, headerSize)
	b[0] = 1
	binary.LittleEndian.PutUint16(b[2:], control)
	for i, sid := range []SID{d.Owner, d.Group} {
		at := 4 + 4*i
		if sid == "" {
			continue
		}
		raw, err := sid.Bytes()
		if err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint32(b[at:], uint32(len(b)))
		b = append(b, raw...)
	}
	if d.NoDACL {
		return b, nil
	}
	acl, err := EncodeACL(d.DACL)
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint32(b[16:], uint32(len(b)))
	return append(b, acl...), nil
}

// EncodeACL gives the bytes of an access list.
func EncodeACL(entries []ACE) ([]byte, error) {
	b := make([]byte, aclHeader)
	b[0] = 2
	for _, a := range entries {
		if a.Opaque != nil {
			if len(a.Opaque) < 4 || len(a.Opaque)%4 != 0 || int(binary.LittleEndian.Uint16(a.Opaque[2:])) != len(a.Opaque) {
				return nil, errors.New("encode access list: an entry carried as bytes has lost its size (a bug, please report)")
			}
			switch a.Opaque[0] {
			case 5, 6, 7, 8, 11, 12, 15, 16: // object entries belong to revision 4
				b[0] = 4
			}
			entry := append([]byte(nil), a.Opaque...)
			entry[1] = a.Flags
			b = append(b, entry...)
			continue
		}
		raw, err := a.SID.Bytes()
		if err != nil {
			return nil, err
		}
		b = append(b, a.Kind, a.Flags)
		b = binary.LittleEndian.AppendUint16(b, uint16(8+len(raw)))
		b = binary.LittleEndian.AppendUint32(b, a.Mask)
		b = append(b, raw...)
	}
	if len(b) > maxACL {
		return nil, ErrTooLong
	}
	binary.LittleEndian.PutUint16(b[2:], uint16(len(b)))
	binary.LittleEndian.PutUint16(b[4:], uint16(len(entries)))
	return b, nil
}

// Decode reads a self-relative descriptor.
func Decode(b []byte) (Descriptor, error) {
	var d Descriptor
	fail := func(what string) (Descriptor, error) {
		return Descriptor{}, fmt.Errorf("read security descriptor: %s", what)
	}
	if len(b) < headerSize || b[0] != 1 {
		return fail("not a revision 1 descriptor")
	}
	control := binary.LittleEndian.Uint16(b[2:])
	if control&ctlSelfRelative == 0 {
		return fail("not self-relative")
	}
	d.Protected = control&ctlDACLProtected != 0
	d.AutoInherited = control&ctlDACLAutoInherited != 0
	for i, to := range []*SID{&d.Owner, &d.Group} {
		at := 4 + 4*i
		off := binary.LittleEndian.Uint32(b[at:])
		if off == 0 {
			continue
		}
		if off < headerSize || int64(off) > int64(len(b)) {
			return fail("an identifier lies outside it")
		}
		sid, _, err := SIDFromBytes(b[off:])
		if err != nil {
			return fail(err.Error())
		}
		*to = sid
	}
	off := binary.LittleEndian.Uint32(b[16:])
	if control&ctlDACLPresent == 0 || off == 0 {
		d.NoDACL = true
		return d, nil
	}
	if off < headerSize || int64(off) > int64(len(b)) {
		return fail("the access list lies outside it")
	}
	acl, err := DecodeACL(b[off:])
	if err != nil {
		return fail(err.Error())
	}
	d.DACL = acl
	return d, nil
}

// DecodeACL reads an access list at the front of b. An entry of a kind that srt does not understand is kept as bytes.
func DecodeACL(b []byte) ([]ACE, error) {
	if len(b) < aclHeader || b[0] != 2 && b[0] != 4 {
		return nil, errors.New("not an access list of revision 2 or 4")
	}
	size, count := int(binary.LittleEndian.Uint16(b[2:])), int(binary.LittleEndian.Uint16(b[4:]))
	if size < aclHeader || size > len(b) {
		return nil, errors.New("the access list is longer than its bytes")
	}
	b = b[aclHeader:size]
	entries := make([]ACE, 0, min(count, len(b)/4))
	for range count {
		if len(b) < 4 {
			return nil, errors.New("an entry is cut off")
		}
		n := int(binary.LittleEndian.Uint16(b[2:]))
		if n < 4 || n%4 != 0 || n > len(b) {
			return nil, errors.New("an entry has an impossible size")
		}
		a := ACE{Kind: b[0], Flags: b[1]}
		sid, used, err := SID(""), 0, error(nil)
		if n > 8 {
			sid, used, err = SIDFromBytes(b[8:n])
		}
		if a.Kind <= Deny && n > 8 && err == nil && 8+used == n {
			a.Mask, a.SID = binary.LittleEndian.Uint32(b[4:]), sid
		} else {
			a.Opaque = append([]byte(nil), b[:n]...)
		}
		entries = append(entries, a)
		b = b[n:]
	}
	return entries, nil
}
