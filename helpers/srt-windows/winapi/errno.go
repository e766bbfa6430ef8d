package winapi

import "fmt"

// Errno is an error number of Windows, from any of its families that do not overlap.
type Errno uint32

// Numbers that a caller acts on.
const (
	ErrFileNotFound     Errno = 2
	ErrPathNotFound     Errno = 3
	ErrAccessDenied     Errno = 5
	ErrAlreadyExists    Errno = 183
	ErrNoneMapped       Errno = 1332 // no account of that name
	ErrNoSuchMember     Errno = 1387
	ErrNoSuchAlias      Errno = 1376 // no local group of that name
	ErrMemberNotInAlias Errno = 1377 // not a member, or one through another group
	ErrMemberInAlias    Errno = 1378 // already a member
	ErrAliasExists      Errno = 1379 // the local group exists
	ErrGroupNotFound    Errno = 2220 // NERR_GroupNotFound, the other spelling of ErrNoSuchAlias
	ErrUserNotFound     Errno = 2221 // NERR_UserNotFound
	ErrUserExists       Errno = 2224 // NERR_UserExists
	ErrFilterNotFound   Errno = 0x80320003
	ErrProviderUnknown  Errno = 0x80320005
	ErrSublayerUnknown  Errno = 0x80320007
	ErrFwpExists        Errno = 0x80320009 // a filter, sublayer or provider of that key exists
	ErrFwpInUse         Errno = 0x8032000A // something still refers to it
	ErrNoTxn            Errno = 0x8032000D // no transaction is open
	ErrTxnInProgress    Errno = 0x8032000E
)

// names spells the numbers that people meet, so that a message can be searched for.
var names = map[Errno]string{
	ErrFileNotFound: "not found", ErrPathNotFound: "path not found", ErrAccessDenied: "access denied", ErrAlreadyExists: "exists already",
	ErrNoneMapped: "no such account", ErrNoSuchMember: "no such member", ErrNoSuchAlias: "no such local group", ErrMemberInAlias: "already a member", ErrMemberNotInAlias: "not a member",
	ErrAliasExists: "the local group exists", ErrGroupNotFound: "no such group", ErrUserNotFound: "no such user", ErrUserExists: "the user exists",
	ErrFilterNotFound: "no such filter", ErrProviderUnknown: "no such provider", ErrSublayerUnknown: "no such sublayer",
	ErrFwpExists: "exists already in the filtering platform", ErrFwpInUse: "still in use in the filtering platform",
	ErrNoTxn: "no transaction is open", ErrTxnInProgress: "a transaction is open",
	0x569: "the account has no right to log on this way", 1326: "wrong user name or password", 1909: "the account is locked",
	1058: "the service is disabled", 740: "needs an administrator",
}

// Error gives the words for the number, and the number.
func (e Errno) Error() string {
	n := fmt.Sprintf("%d", uint32(e))
	if e >= 0x80000000 {
		n = fmt.Sprintf("0x%08x", uint32(e))
	}
	if text, ok := names[e]; ok {
		return text + " (Windows error " + n + ")"
	}
	return "Windows error " + n
}
