package sd

// Rights on files and directories (the second meaning is that for a directory).
const (
	ReadData        = 0x000001 // read; list
	WriteData       = 0x000002 // write; add a file
	AppendData      = 0x000004 // append; add a subdirectory
	ReadEA          = 0x000008
	WriteEA         = 0x000010
	Execute         = 0x000020 // execute; traverse
	DeleteChild     = 0x000040 // remove any entry of the directory, whatever its own ACL says
	ReadAttributes  = 0x000080
	WriteAttributes = 0x000100
	Delete          = 0x010000
	ReadControl     = 0x020000
	WriteDAC        = 0x040000
	WriteOwner      = 0x080000
	Synchronize     = 0x100000

	GenericAll     = 0x10000000
	GenericExecute = 0x20000000
	GenericWrite   = 0x40000000
	GenericRead    = 0x80000000

	// MatchFilter is the one right that WFP asks for when it compares a token with a filter's descriptor.
	MatchFilter = 0x000001
)

// Masks that srt writes. A reviewer reads these lines; nothing else composes a mask for a file.
const (
	MaskAll     = 0x1F01FF                                                                                          // every right
	MaskRead    = ReadData | ReadEA | Execute | ReadAttributes | ReadControl | Synchronize                          // allowRead: read and execute
	MaskContent = MaskRead | WriteData | AppendData | WriteEA | WriteAttributes                                     // allowWrite on the root itself: no Delete, so that the root cannot be moved away
	MaskModify  = MaskContent | Delete                                                                              // allowWrite below the root: modify, without DeleteChild, WriteDAC, WriteOwner
	MaskWrite   = WriteData | AppendData | WriteEA | WriteAttributes | Delete | DeleteChild | WriteDAC | WriteOwner // denyWrite: whatever changes the object
	MaskPinned  = Delete | DeleteChild                                                                              // directories above a denied path: not to be moved away
	MaskPass    = Execute | ReadAttributes | ReadControl | Synchronize                                              // directories above a granted path: looked at, never listed
)

// Mapping says what the generic rights mean for one kind of object.
type Mapping struct{ Read, Write, Execute, All uint32 }

// Mappings of the kinds that srt judges.
var (
	FileMapping    = Mapping{Read: 0x120089, Write: 0x120116, Execute: 0x1200A0, All: MaskAll}
	ProcessMapping = Mapping{Read: 0x020410, Write: 0x020BEA, Execute: 0x121001, All: 0x1FFFFF}
	KeyMapping     = Mapping{Read: 0x020019, Write: 0x020006, Execute: 0x020019, All: 0x0F003F}
	FilterMapping  = Mapping{Read: 0x020000, Write: 0, Execute: MatchFilter, All: 0x020001} // WFP: matching is no write
)

// Map replaces generic rights by specific ones.
func (m Mapping) Map(mask uint32) uint32 {
	out := mask &^ (GenericAll | GenericExecute | GenericWrite | GenericRead)
	if mask&GenericAll != 0 {
		out |= m.All
	}
	if mask&GenericRead != 0 {
		out |= m.Read
	}
	if mask&GenericWrite != 0 {
		out |= m.Write
	}
	if mask&GenericExecute != 0 {
		out |= m.Execute
	}
	return out
}

// writes are the rights for which a write-restricted token is held to its restricting SIDs.
func (m Mapping) writes() uint32 {
	return (m.Write | Delete | WriteDAC | WriteOwner | (m.All &^ (m.Read | m.Execute))) &^ (ReadControl | Synchronize)
}
