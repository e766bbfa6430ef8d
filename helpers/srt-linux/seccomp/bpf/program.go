package bpf

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Inst is one instruction, in the layout of struct sock_filter.
type Inst struct {
	Code   uint16
	Jt, Jf uint8
	K      uint32
}

// instSize is the size of struct sock_filter in bytes; MaxInsts is the kernel's bound on a filter.
const (
	instSize = 8
	MaxInsts = 4096
)

// The instructions that filters use, by their kernel encoding.
const (
	LoadAbs   = 0x20 // A = the 32-bit word at offset K of struct seccomp_data
	And       = 0x54 // A &= K
	Jump      = 0x05 // skip K instructions
	JumpEqual = 0x15 // skip Jt when A == K, else Jf
	JumpGT    = 0x25 // skip Jt when A > K, else Jf
	JumpGE    = 0x35 // skip Jt when A >= K, else Jf
	JumpSet   = 0x45 // skip Jt when A & K != 0, else Jf
	Return    = 0x06 // the verdict is K
)

// Offsets in struct seccomp_data.
const (
	OffsetNumber = 0
	OffsetArch   = 4
	offsetIP     = 8
	offsetArgs   = 16
	dataSize     = 64
)

// OffsetArg is the offset of the low half of argument i.
func OffsetArg(i int) uint32 { return uint32(offsetArgs + 8*i) }

// Parse reads a program as the kernel takes it on a little-endian machine.
func Parse(b []byte) ([]Inst, error) {
	if len(b) == 0 || len(b)%instSize != 0 || len(b)/instSize > MaxInsts {
		return nil, fmt.Errorf("filter: %d bytes are not 1 to %d instructions of %d bytes", len(b), MaxInsts, instSize)
	}
	p := make([]Inst, len(b)/instSize)
	for i := range p {
		w := b[i*instSize:]
		p[i] = Inst{binary.LittleEndian.Uint16(w), w[2], w[3], binary.LittleEndian.Uint32(w[4:])}
	}
	return p, nil
}

// Bytes is the opposite of Parse.
func Bytes(p []Inst) []byte {
	var b []byte
	for _, i := range p {
		b = binary.LittleEndian.AppendUint16(b, i.Code)
		b = append(b, i.Jt, i.Jf)
		b = binary.LittleEndian.AppendUint32(b, i.K)
	}
	return b
}

// Data is struct seccomp_data: one call as a filter sees it.
type Data struct {
	Number uint32
	Arch   uint32
	IP     uint64
	Args   [6]uint64
}

func (d Data) word(offset uint32) (uint32, error) {
	if offset%4 != 0 || offset >= dataSize {
		return 0, fmt.Errorf("load at offset %d", offset)
	}
	var b [dataSize]byte
	binary.LittleEndian.PutUint32(b[OffsetNumber:], d.Number)
	binary.LittleEndian.PutUint32(b[OffsetArch:], d.Arch)
	binary.LittleEndian.PutUint64(b[offsetIP:], d.IP)
	for i, a := range d.Args {
		binary.LittleEndian.PutUint64(b[offsetArgs+8*i:], a)
	}
	return binary.LittleEndian.Uint32(b[offset:]), nil
}

// Run gives the verdict of p on a call. Any instruction, jump or load that the kernel's checker would refuse is an error.
func Run(p []Inst, d Data) (uint32, error) {
	var a uint32
	for pc := 0; pc < len(p); pc++ {
		i := p[pc]
		taken := false
		switch i.Code {
		case LoadAbs:
			w, err := d.word(i.K)
			if err != nil {
				return 0, fmt.Errorf("instruction %d: %w", pc, err)
			}
			a = w
			continue
		case And:
			a &= i.K
			continue
		case Return:
			return i.K, nil
		case Jump:
			if uint64(i.K) >= uint64(len(p)) {
				return 0, fmt.Errorf("instruction %d: jump past the end", pc)
			}
			pc += int(i.K)
			continue
		case JumpEqual:
			taken = a == i.K
		case JumpGT:
			taken = a > i.K
		case JumpGE:
			taken = a >= i.K
		case JumpSet:
			taken = a&i.K != 0
		default:
			return 0, fmt.Errorf("instruction %d: unknown code %#x", pc, i.Code)
		}
		if taken {
			pc += int(i.Jt)
		} else {
			pc += int(i.Jf)
		}
	}
	return 0, errors.New("the program runs off its end")
}
