//go:build linux || darwin

package main

import "testing"

func TestHomeOfAUser(t *testing.T) {
	const passwd = "root:x:0:0:root:/root:/bin/bash\n# 1000\nshort:x:1000:1000\na:x:1000:1000:A B:/home/a b:/bin/sh\nb:x:1000:1:second:/home/b:\nnone:x:7:7:::/bin/sh\nlast:x:8:8::/l:"
	for uid, want := range map[int]string{0: "/root", 1000: "/home/a b", 7: "", 8: "/l", 9: ""} {
		if got := homeOf(passwd, uid); got != want {
			t.Errorf("%d: got %q, want %q", uid, got, want)
		}
	}
}
