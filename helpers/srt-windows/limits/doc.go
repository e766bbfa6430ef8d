// Package limits is the table that a reviewer of srt on Windows reads: every account flag, logon right, registry key, filter, token,
// job and desktop setting, as literals with the reason beside each. It holds values and must never hold a decision.
package limits

import (
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// Names that install makes on the machine.
const (
	User         = "srt-sandbox"                                         // account of the commands; --sandbox-user changes it
	Group        = "srt-sandbox-users"                                   // what grants on files name, so that they outlive a new account
	UserComment  = "Runs commands of srt behind a fence. Not for logon." // tells an administrator what it is
	GroupComment = "Accounts of srt's sandbox. Grants on project files name this group."
	StateKey     = `SOFTWARE\srt-windows`                                                           // record of the installation and the sealed password
	HiddenKey    = `SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon\SpecialAccounts\UserList` // a 0 under the account's name keeps it off the logon screen
	RunFolder    = `srt-run`                                                                        // below %ProgramData%: temporary directories and homes of running commands
)

// Account flags (UF_*).
const (
	FlagScript       = 0x0001  // required by NetUserAdd
	FlagDisabled     = 0x0002  // until the fence stands
	FlagCannotChange = 0x0040  // a command must not set a password that srt does not know
	FlagNormal       = 0x0200  // an ordinary local account
	FlagNeverExpires = 0x10000 // the password is 256 random bits and srt rotates it at each install

	AccountFlags          = FlagScript | FlagCannotChange | FlagNormal | FlagNeverExpires
	AccountFlagsFenceless = AccountFlags | FlagDisabled
	// FlagsForbidden are drift when they are found: locked out, no password needed, reversible password, trusted for delegation.
	FlagsForbidden = 0x0010 | 0x0020 | 0x0080 | 0x80000
)

// Rights is every logon right the account has or is refused; any other right found on it is drift.
var Rights = []string{
	"SeInteractiveLogonRight",           // CreateProcessWithLogonW logs on interactively; nothing else is needed
	"SeDenyNetworkLogonRight",           // not over SMB or RPC, also not from this machine to itself
	"SeDenyBatchLogonRight",             // no scheduled task
	"SeDenyServiceLogonRight",           // no service
	"SeDenyRemoteInteractiveLogonRight", // no remote desktop
}

// ForeignGroups are local groups that the account may be in without being added: all of its rights come from these and its own group.
var ForeignGroups = []sd.SID{
	sd.Users, // through INTERACTIVE and Authenticated Users; its write rights do not count under the restricted token
}

// Powerful are groups of Windows whose members have much of the machine. A command's token is never in one.
var Powerful = []sd.SID{
	sd.Administrators, sd.LocalSystem,
	"S-1-5-32-547", // Power Users
	"S-1-5-32-548", // Account Operators
	"S-1-5-32-549", // Server Operators
	"S-1-5-32-550", // Print Operators: drivers
	"S-1-5-32-551", // Backup Operators: every file
	"S-1-5-32-556", // Network Configuration Operators
	"S-1-5-32-569", // Cryptographic Operators
	"S-1-5-32-578", // Hyper-V Administrators: machines with the host's disks
	"S-1-5-32-580", // Remote Management Users
}

// AccountGroups are the groups that Windows puts every token of the account in, or may: what one of them may read, the account may.
var AccountGroups = []sd.SID{sd.Everyone, sd.Local, sd.ConsoleLogon, sd.Interactive, sd.AuthenticatedUsers, sd.ThisOrganization, sd.Users,
	sd.PerformanceLog, sd.LocalAccount, sd.NTLM}

// NoGroup is the number, beside the account's own, of the group "None", which every local account is in. Cygwin and MSYS name it in lists.
const NoGroup = 513

// Proxy ports that the fence leaves open on loopback, unless --proxy-port-range says otherwise. Go-plugin's own range starts at 10000.
const (
	ProxyPortLow  = wire.ProxyPortLow  // 60080
	ProxyPortHigh = wire.ProxyPortHigh // 60089
	ProxyPortMin  = wire.ProxyPortMin  // below are ports that services are assigned
	ProxyPortSpan = wire.ProxyPortSpan // most ports a range may have: each is a hole in the fence
)

// PasswordBytes is how much randomness a password carries.
const PasswordBytes = 32

// Entropy is mixed into what DPAPI seals, so that another program's sealed value is never taken for the password.
const Entropy = "srt windows account password v1"

// Version of the record and of what install makes; another one asks for a re-install.
const Version = 2

// Masks on registry keys.
const (
	KeyAll  = 0xF003F
	KeyRead = 0x20019
)

// Keys of the filtering platform. They are srt's own, made once at random, and never change.
const (
	Provider winapi.GUID = "9c5e2afe-d077-470f-aff2-0dd168369d9e"
	Sublayer winapi.GUID = "6c3ce732-08c8-4a59-873c-0b14920faa77" // --sublayer-guid changes it
)

// SublayerWeight is the highest, so that no other product's permit is asked before our block.
const SublayerWeight = 0xFFFF
