package main

import (
	"bytes"
	"debug/pe"
	"strings"
	"testing"
)

func TestImage(t *testing.T) {
	f, err := pe.NewFile(bytes.NewReader(image()))
	if err != nil {
		t.Fatal(err)
	}
	h, ok := f.OptionalHeader.(*pe.OptionalHeader64)
	if !ok || f.Machine != pe.IMAGE_FILE_MACHINE_AMD64 || len(f.Sections) != 1 || f.Characteristics&pe.IMAGE_FILE_DLL == 0 {
		t.Fatalf("%+v", f.FileHeader)
	}
	data, err := f.Sections[0].Data()
	if err != nil {
		t.Fatal(err)
	}
	d := h.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT]
	if d.VirtualAddress != sectionRVA || int(d.Size) > len(data) {
		t.Errorf("export directory %+v", d)
	}
	for _, text := range []string{library, export, target} {
		if !strings.Contains(string(data), text+"\x00") {
			t.Errorf("no %q", text)
		}
	}
}
