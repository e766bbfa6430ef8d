package winapi

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

var (
	procCreateRestrictedToken = advapi32.NewProc("CreateRestrictedToken")
	procLookupPrivilegeName   = advapi32.NewProc("LookupPrivilegeNameW")
)

// token is a token that processes are started under.
type token struct{ t windows.Token }

const (
	logonGroup           = 0xC0000000 // SE_GROUP_LOGON_ID
	groupEnabled         = 0x4
	groupDenyOnly        = 0x10
	tokenWriteRestricted = 0x8 // TOKEN_WRITE_RESTRICTED in TokenAccessInformation's flags
)

// accessInformation is TOKEN_ACCESS_INFORMATION, the one place where a token says that it is write-restricted.
type accessInformation struct {
	sidHash, restrictedHash, privileges uintptr
	authenticationID                    windows.LUID
	kind, impersonation                 uint32
	mandatory                           uint32
	flags                               uint32
	appContainer                        uint32
	packageSID                          uintptr
	capabilityHash                      uintptr
	trustLevelSID                       uintptr
	securityAttributes                  uintptr
}

// query asks a token for one class of information.
func query(t windows.Token, class uint32) ([]uint64, error) {
	buf := make([]uint64, 64) // eight bytes each, so that what is read is aligned
	for {
		var n uint32
		err := windows.GetTokenInformation(t, class, (*byte)(unsafe.Pointer(&buf[0])), uint32(8*len(buf)), &n)
		if err == nil {
			return buf, nil
		}
		if err != windows.ERROR_INSUFFICIENT_BUFFER || n == 0 || int(n) <= 8*len(buf) {
			return nil, errOf(err)
		}
		buf = make([]uint64, n/8+1)
	}
}

func groupsOf(t windows.Token, class uint32) ([]windows.SIDAndAttributes, error) {
	buf, err := query(t, class)
	if err != nil {
		return nil, err
	}
	g := (*windows.Tokengroups)(unsafe.Pointer(&buf[0]))
	return unsafe.Slice(&g.Groups[0], g.GroupCount), nil
}

// identityOf is the part of a token's facts that every system answers for.
func identityOf(t windows.Token) (TokenFacts, error) {
	var f TokenFacts
	u, err := t.GetTokenUser()
	if err != nil {
		return f, errOf(err)
	}
	f.User = sd.SID(u.User.Sid.String())
	groups, err := groupsOf(t, windows.TokenGroups)
	if err != nil {
		return f, err
	}
	for _, g := range groups {
		if g.Attributes&groupEnabled != 0 && g.Attributes&groupDenyOnly == 0 {
			f.Groups = append(f.Groups, sd.SID(g.Sid.String()))
		}
	}
	return f, nil
}

func factsOf(t windows.Token) (TokenFacts, error) {
	f, err := identityOf(t)
	if err != nil {
		return f, err
	}
	restricting, err := groupsOf(t, windows.TokenRestrictedSids)
	if err != nil {
		return f, err
	}
	for _, g := range restricting {
		f.Restricting = append(f.Restricting, sd.SID(g.Sid.String()))
	}
	access, err := query(t, windows.TokenAccessInformation)
	if err != nil {
		return f, err
	}
	f.WriteRestricted = (*accessInformation)(unsafe.Pointer(&access[0])).flags&tokenWriteRestricted != 0
	f.Privileges, err = privilegesOf(t)
	return f, err
}

func privilegesOf(t windows.Token) ([]string, error) {
	buf, err := query(t, windows.TokenPrivileges)
	if err != nil {
		return nil, err
	}
	p := (*windows.Tokenprivileges)(unsafe.Pointer(&buf[0]))
	var out []string
	for _, x := range p.AllPrivileges() {
		name := make([]uint16, 256)
		n := uint32(len(name))
		if r, _, err := procLookupPrivilegeName.Call(0, uintptr(unsafe.Pointer(&x.Luid)), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&n))); r == 0 {
			return nil, errOf(err)
		}
		out = append(out, windows.UTF16ToString(name))
	}
	runtime.KeepAlive(buf)
	return out, nil
}

// LogonSIDs implements Inner and Self.
func (*Real) LogonSIDs() ([]sd.SID, error) {
	groups, err := groupsOf(windows.GetCurrentProcessToken(), windows.TokenGroups)
	if err != nil {
		return nil, err
	}
	var out []sd.SID
	for _, g := range groups {
		if g.Attributes&logonGroup == logonGroup {
			out = append(out, sd.SID(g.Sid.String()))
		}
	}
	return out, nil
}

// HardenSelf implements Inner.
func (*Real) HardenSelf(d sd.Descriptor) error {
	return setSecurity(windows.CurrentProcess(), windows.SE_KERNEL_OBJECT, d)
}

// Restrict implements Inner.
func (*Real) Restrict(s TokenSpec) (Token, error) {
	var own windows.Token
	const access = windows.TOKEN_DUPLICATE | windows.TOKEN_ASSIGN_PRIMARY | windows.TOKEN_QUERY | windows.TOKEN_ADJUST_DEFAULT
	if err := windows.OpenProcessToken(windows.CurrentProcess(), access, &own); err != nil {
		return nil, errOf(err)
	}
	defer own.Close()
	list, err := sidList(s.Restricting)
	if err != nil {
		return nil, err
	}
	disable, err := sidList(s.Disable)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, Errno(87) // a token that is restricted to nothing would not be restricted
	}
	var t windows.Token
	r, _, err := procCreateRestrictedToken.Call(uintptr(own), uintptr(s.Flags), uintptr(len(disable)), uintptr(unsafe.Pointer(unsafe.SliceData(disable))), 0, 0,
		uintptr(len(list)), uintptr(unsafe.Pointer(&list[0])), uintptr(unsafe.Pointer(&t)))
	runtime.KeepAlive(list)
	runtime.KeepAlive(disable)
	if r == 0 {
		return nil, errOf(err)
	}
	acl, err := sd.EncodeACL(s.DefaultDACL)
	if err == nil {
		pointer := uintptr(unsafe.Pointer(&acl[0])) // TOKEN_DEFAULT_DACL is one pointer
		err = errOf(windows.SetTokenInformation(t, windows.TokenDefaultDacl, (*byte)(unsafe.Pointer(&pointer)), uint32(unsafe.Sizeof(pointer))))
		runtime.KeepAlive(acl)
	}
	if err != nil {
		_ = t.Close() // the first error says more
		return nil, err
	}
	return &token{t}, nil
}

func sidList(sids []sd.SID) ([]windows.SIDAndAttributes, error) {
	var out []windows.SIDAndAttributes
	for _, s := range sids {
		p, err := sidPtr(s)
		if err != nil {
			return nil, err
		}
		out = append(out, windows.SIDAndAttributes{Sid: p})
	}
	return out, nil
}

// Facts implements Token.
func (t *token) Facts() (TokenFacts, error) { return factsOf(t.t) }

// Close implements Token.
func (t *token) Close() error { return errOf(t.t.Close()) }

// OwnToken implements Prober.
func (*Real) OwnToken() (TokenFacts, error) {
	var t windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_QUERY, &t); err != nil {
		return TokenFacts{}, errOf(err)
	}
	defer t.Close()
	return factsOf(t)
}
