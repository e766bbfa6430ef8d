package main

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// seal is what the helper's install does with the account's password.
func seal(t *testing.T, plain, entropy string) []byte {
	t.Helper()
	blob := func(s string) *windows.DataBlob {
		b := []byte(s)
		return &windows.DataBlob{Size: uint32(len(b)), Data: &b[0]}
	}
	var out windows.DataBlob
	if err := windows.CryptProtectData(blob(plain), nil, blob(entropy), 0, nil, windows.CRYPTPROTECT_LOCAL_MACHINE|windows.CRYPTPROTECT_UI_FORBIDDEN, &out); err != nil {
		t.Fatal(err)
	}
	return append([]byte{}, unsafe.Slice(out.Data, out.Size)...)
}
