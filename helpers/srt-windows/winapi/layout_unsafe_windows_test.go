package winapi

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// TestLayout holds sizes and offsets against those of the Windows headers for 64-bit machines; amd64 and arm64 share them.
func TestLayout(t *testing.T) {
	var (
		filter    fwpmFilter0
		condition fwpmCondition0
		sublayer  fwpmSublayer0
		provider  fwpmProvider0
		session   fwpmSession0
		user      userInfo1
		lsaAttr   lsaAttributes
		access    accessInformation
		id        fileIDDescriptor
	)
	for name, c := range map[string]struct{ got, want uintptr }{
		"FWPM_FILTER0":                              {unsafe.Sizeof(filter), 200},
		"FWPM_FILTER0.flags":                        {unsafe.Offsetof(filter.flags), 32},
		"FWPM_FILTER0.providerKey":                  {unsafe.Offsetof(filter.provider), 40},
		"FWPM_FILTER0.providerData":                 {unsafe.Offsetof(filter.data), 48},
		"FWPM_FILTER0.layerKey":                     {unsafe.Offsetof(filter.layer), 64},
		"FWPM_FILTER0.subLayerKey":                  {unsafe.Offsetof(filter.sublayer), 80},
		"FWPM_FILTER0.weight":                       {unsafe.Offsetof(filter.weight), 96},
		"FWPM_FILTER0.numFilterConditions":          {unsafe.Offsetof(filter.numConditions), 112},
		"FWPM_FILTER0.filterCondition":              {unsafe.Offsetof(filter.conditions), 120},
		"FWPM_FILTER0.action":                       {unsafe.Offsetof(filter.action), 128},
		"FWPM_FILTER0.rawContext":                   {unsafe.Offsetof(filter.context), 152},
		"FWPM_FILTER0.reserved":                     {unsafe.Offsetof(filter.reserved), 168},
		"FWPM_FILTER0.filterId":                     {unsafe.Offsetof(filter.id), 176},
		"FWPM_FILTER0.effectiveWeight":              {unsafe.Offsetof(filter.effective), 184},
		"FWPM_FILTER_CONDITION0":                    {unsafe.Sizeof(condition), 40},
		"FWPM_FILTER_CONDITION0.conditionValue":     {unsafe.Offsetof(condition.value), 24},
		"FWPM_SUBLAYER0":                            {unsafe.Sizeof(sublayer), 72},
		"FWPM_SUBLAYER0.providerKey":                {unsafe.Offsetof(sublayer.provider), 40},
		"FWPM_SUBLAYER0.weight":                     {unsafe.Offsetof(sublayer.weight), 64},
		"FWPM_PROVIDER0":                            {unsafe.Sizeof(provider), 64},
		"FWPM_PROVIDER0.serviceName":                {unsafe.Offsetof(provider.service), 56},
		"FWPM_SESSION0":                             {unsafe.Sizeof(session), 72},
		"FWPM_SESSION0.txnWaitTimeoutInMSec":        {unsafe.Offsetof(session.txnWait), 36},
		"FWPM_SESSION0.sid":                         {unsafe.Offsetof(session.sid), 48},
		"FWP_VALUE0":                                {unsafe.Sizeof(fwpValue0{}), 16},
		"FWP_RANGE0":                                {unsafe.Sizeof(fwpRange0{}), 32},
		"FWP_V4_ADDR_AND_MASK":                      {unsafe.Sizeof(fwpNet4{}), 8},
		"FWP_V6_ADDR_AND_MASK":                      {unsafe.Sizeof(fwpNet6{}), 17},
		"FWP_BYTE_BLOB":                             {unsafe.Sizeof(fwpBlob{}), 16},
		"USER_INFO_1":                               {unsafe.Sizeof(user), 56},
		"USER_INFO_1.usri1_comment":                 {unsafe.Offsetof(user.comment), 32},
		"USER_INFO_1.usri1_flags":                   {unsafe.Offsetof(user.flags), 40},
		"LOCALGROUP_INFO_1":                         {unsafe.Sizeof(groupInfo1{}), 16},
		"LSA_UNICODE_STRING":                        {unsafe.Sizeof(lsaString{}), 16},
		"LSA_OBJECT_ATTRIBUTES":                     {unsafe.Sizeof(lsaAttr), 48},
		"LSA_OBJECT_ATTRIBUTES.ObjectName":          {unsafe.Offsetof(lsaAttr.objectName), 16},
		"TOKEN_ACCESS_INFORMATION":                  {unsafe.Sizeof(access), 88},
		"TOKEN_ACCESS_INFORMATION.AuthenticationId": {unsafe.Offsetof(access.authenticationID), 24},
		"TOKEN_ACCESS_INFORMATION.Flags":            {unsafe.Offsetof(access.flags), 44},
		"TOKEN_ACCESS_INFORMATION.PackageSid":       {unsafe.Offsetof(access.packageSID), 56},
		"FILE_ID_INFO":                              {unsafe.Sizeof(fileIDInfo{}), 24},
		"FILE_ID_DESCRIPTOR":                        {unsafe.Sizeof(id), 24},
		"FILE_ID_DESCRIPTOR.FileId":                 {unsafe.Offsetof(id.id), 8},
		"STARTUPINFOEXW":                            {unsafe.Sizeof(windows.StartupInfoEx{}), 112},
		"JOBOBJECT_EXTENDED_LIMIT_INFORMATION":      {unsafe.Sizeof(windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}), 144},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, the headers say %d", name, c.got, c.want)
		}
	}
}

// TestFilterRoundTrip writes every kind of condition into the structure and reads it back.
func TestFilterRoundTrip(t *testing.T) {
	x := sampleFilter()
	var keep []any
	n, err := nativeFilter(x, &keep)
	if err != nil {
		t.Fatal(err)
	}
	if got := plainFilter(n); !sameFilter(got, x) {
		t.Errorf("got  %+v\nwant %+v", got, x)
	}
	n.flags &^= fwpmClearAction
	if sameFilter(plainFilter(n), x) {
		t.Error("a soft block reads like a hard one")
	}
	x.Conditions = nil
	if _, err := nativeFilter(x, &keep); err == nil || err.Error() != `filter "n" has no condition: it would hold for everybody` {
		t.Errorf("got %v", err)
	}
	if len(keep) == 0 {
		t.Error("nothing is kept alive")
	}
}
