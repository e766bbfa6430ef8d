package winapi

import (
	"net/netip"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

// System is everything that install, uninstall, status and the access lists need.
type System interface {
	Accounts
	Registry
	Secrets
	Firewalls
	Files
	Self
}

// User is a local account. Password is only ever set, never read.
type User struct {
	Name, Comment, Password string
	Flags                   uint32
}

// Accounts are the machine's own users, groups and logon rights.
type Accounts interface {
	UserAdd(u User) error                        // ErrUserExists
	UserGet(name string) (User, error)           // ErrUserNotFound
	UserSetFlags(name string, f uint32) error    // ErrUserNotFound
	UserSetPassword(name, password string) error // ErrUserNotFound
	UserDel(name string) error                   // ErrUserNotFound

	GroupAdd(name, comment string) error             // ErrAliasExists
	GroupDel(name string) error                      // ErrNoSuchAlias or ErrGroupNotFound
	GroupMembers(name string) ([]sd.SID, error)      // ErrNoSuchAlias or ErrGroupNotFound
	GroupAddMember(name string, member sd.SID) error // ErrMemberInAlias
	GroupDelMember(group, member sd.SID) error       // ErrMemberNotInAlias
	GroupsOf(user string) ([]sd.SID, error)          // local groups, also through other groups; by SID, because names are translated
	LookupSID(name string) (sd.SID, error)           // ErrNoneMapped
	Rights(sid sd.SID) ([]string, error)             // none: an empty list
	RightsAdd(sid sd.SID, rights []string) error
	RightsRemoveAll(sid sd.SID) error // none: no error
	ProfileDelete(sid sd.SID) error   // ErrFileNotFound when the account never logged on
}

// Kinds of registry Value.
const (
	KindString = 1
	KindBinary = 3
	KindNumber = 4
)

// Value is one registry value; the field that belongs to Kind is set.
type Value struct {
	Kind   int
	String string
	Number uint32
	Binary []byte
}

// Registry is HKEY_LOCAL_MACHINE, 64-bit view. Paths are relative to it.
type Registry interface {
	KeyCreate(path string, d sd.Descriptor) error   // sets the descriptor also when the key is there
	KeySecurity(path string) (sd.Descriptor, error) // ErrFileNotFound
	KeyDelete(path string) error                    // with what is below; ErrFileNotFound
	ValueGet(path, name string) (Value, error)      // ErrFileNotFound
	ValueSet(path, name string, v Value) error      // ErrFileNotFound without the key
	ValueDelete(path, name string) error            // ErrFileNotFound
}

// Secrets encrypts for this machine (DPAPI, machine scope): whoever can read the result on this machine can decrypt it.
type Secrets interface {
	Protect(plain, entropy []byte) ([]byte, error)
	Unprotect(sealed, entropy []byte) ([]byte, error)
}

// Self is what the running process knows of itself.
type Self interface {
	UserSID() (sd.SID, error)
	Elevated() (bool, error)
	ProcessAlive(pid uint32, started uint64) (bool, error) // started: creation time, 100 ns units
	ProcessIdentity() (pid uint32, started uint64, err error)
	ProgramData() (string, error)
	Executable() (string, error)  // absolute path of this program
	LogonSIDs() ([]sd.SID, error) // of this process's logon; none for services
	ProcessesOf(sid sd.SID) ([]uint32, error)
	Terminate(pid uint32) error // ErrFileNotFound when it is gone
}

// Object is one file, directory or link, opened as itself.
type Object struct {
	Path   string // final path, such as C:\Work\a.txt: long names, case as stored
	Volume uint64
	ID     [16]byte // file id on the volume
	Dir    bool
}

// Kinds of a Look.
const (
	KindMissing = iota
	KindFile
	KindDir
	KindLink // a reparse point that leads elsewhere
	KindOther
)

// Look is what a path is, its last component not followed.
type Look struct {
	Kind   int
	Name   string // last component as stored; differs from the asked one when that was an 8.3 name
	Target string // KindLink: where it leads, an absolute path or one relative to its directory; "" when that cannot be read
}

// Entry is one name in a directory.
type Entry struct {
	Name string
	Dir  bool
	Link bool // a reparse point; never descended
}

// Files are the volumes that keep access lists.
type Files interface {
	Look(path string) (Look, error)                   // a missing path is no error
	Resolve(path string) (Object, error)              // refuses a path with a link or an 8.3 name on the way; ErrFileNotFound, ErrPathNotFound
	ReadSmall(path string, limit int) ([]byte, error) // a plain file of at most limit bytes, else an error; follows no link
	Find(o Object) (Object, error)                    // the same object wherever it is now, by its id; ErrFileNotFound
	List(path string) ([]Entry, error)                // of one directory, in no order
	Security(o Object) (sd.Descriptor, error)         // refuses when the path now names another object
	// SetDACL sets the list of one object exactly as given, refusing when the path now names another one. Nothing below changes:
	// handing entries down is acl.Spread's business, which follows no link.
	SetDACL(o Object, d sd.Descriptor) error
	MakeDir(path string, d sd.Descriptor) error     // ErrAlreadyExists
	DirSecurity(path string, d sd.Descriptor) error // replaces the list of a directory of srt's own
	RemoveTree(path string) error                   // no link is followed; ErrFileNotFound
	KeepsACLs(path string) (fs string, ok bool, err error)
}

// GUID is a key of the filtering platform, in the text form of the registry without braces, lower case.
type GUID string

// Actions of a Filter.
const (
	ActionBlock  = 0x1001
	ActionPermit = 0x1002
)

// Provider is the owner of filters.
type Provider struct {
	Key               GUID
	Name, Description string
	Persistent        bool
	Off               bool // the platform applies nothing of it, because a service that it names does not run
}

// Sublayer is the group in which filters compete by weight.
type Sublayer struct {
	Key, Provider     GUID
	Name, Description string
	Weight            uint16
	Persistent        bool
}

// Kinds of Condition value.
const (
	ValueFlags    = 3   // a 32-bit set: all of Number must be set
	ValueUint8    = 1   // equal to Number
	ValueRange16  = 258 // Low … High, both inside
	ValueNet4     = 256 // inside Net, an IPv4 network
	ValueNet6     = 257 // inside Net, an IPv6 network
	ValueIdentity = 14  // the token of the connection is let in by Identity for sd.MatchFilter
)

// Condition is one test of a filter; a filter matches when all of its do.
type Condition struct {
	Field     GUID
	Kind      int
	Number    uint32
	Low, High uint16
	Net       netip.Prefix
	Identity  sd.Descriptor
}

// Filter is one rule of the filtering platform.
type Filter struct {
	Key, Layer, Sublayer, Provider GUID
	Name, Description              string
	Weight                         uint64 // more wins within the sublayer
	Action                         int
	Hard                           bool // no sublayer of less weight can turn the decision
	Persistent                     bool
	Off                            bool // the platform does not apply it
	Conditions                     []Condition
}

// Firewalls opens the filtering platform.
type Firewalls interface {
	FirewallOpen() (Firewall, error)
}

// Firewall is one session with the filtering platform. Without Begin each call is a transaction of its own.
type Firewall interface {
	Begin() error                           // ErrTxnInProgress
	Commit() error                          // ErrNoTxn
	Abort() error                           // ErrNoTxn
	ProviderGet(key GUID) (Provider, error) // ErrProviderUnknown
	ProviderAdd(p Provider) error           // ErrFwpExists
	ProviderDel(key GUID) error             // ErrProviderUnknown, ErrFwpInUse
	Sublayers() ([]Sublayer, error)         // everybody's
	SublayerAdd(s Sublayer) error           // ErrFwpExists, ErrProviderUnknown
	SublayerDel(key GUID) error             // ErrSublayerUnknown, ErrFwpInUse
	// Filters gives those of everybody, at every layer, that wanted says yes to.
	Filters(wanted func(provider, sublayer GUID) bool) ([]Filter, error)
	FilterAdd(f Filter) error // ErrFwpExists, ErrSublayerUnknown, ErrProviderUnknown
	FilterDel(key GUID) error // ErrFilterNotFound
	Close() error             // an open transaction is aborted
}
