package wire

import "testing"

// TestAttachOfAPort: where proxyd opens the port itself, its address and the token are part of the message; elsewhere they are not there.
func TestAttachOfAPort(t *testing.T) {
	for want, a := range map[string]Attach{
		`{"commandId":"c","listeners":[{"role":"proxy"}],"listen":"127.0.0.1:60080","token":"t"}`: {CommandID: "c", Listeners: []Listener{{Role: RoleProxy}}, Listen: "127.0.0.1:60080", Token: "t"},
		`{"commandId":"c","listeners":[{"role":"proxy"}]}`:                                        {CommandID: "c", Listeners: []Listener{{Role: RoleProxy}}},
	} {
		got, err := Encode(a)
		if err != nil || string(got) != want {
			t.Errorf("encoded %s, %v; want %s", got, err, want)
		}
		var back ProxyCommand
		msg := `{"version":1,"seq":1,"op":"attach","attach":` + want + `}`
		if err := Decode([]byte(msg), MaxMessage, &back); err != nil || back.Attach.Listen != a.Listen || back.Attach.Token != a.Token {
			t.Errorf("decoded %+v, %v", back.Attach, err)
		}
	}
}

// TestHandleVariable: both sides of a plan on Windows read the same name.
func TestHandleVariable(t *testing.T) {
	if got := HandleVariable(3); got != "SRT_FD_3" {
		t.Errorf("got %s", got)
	}
}
