package elevate

import (
	"testing"
	"unsafe"
)

func TestLayout(t *testing.T) {
	var info shellExecuteInfo
	if unsafe.Sizeof(info) != 112 || unsafe.Offsetof(info.parameters) != 32 || unsafe.Offsetof(info.process) != 104 {
		t.Errorf("SHELLEXECUTEINFOW: size %d, lpParameters at %d, hProcess at %d", unsafe.Sizeof(info), unsafe.Offsetof(info.parameters), unsafe.Offsetof(info.process))
	}
}
