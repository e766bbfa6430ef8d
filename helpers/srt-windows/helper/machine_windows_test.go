package helper

import "testing"

func TestListen(t *testing.T) {
	in, a, err := listen(60080, 60089, false)
	if err != nil || in.Port() < 60080 || in.Port() > 60089 {
		t.Fatalf("%v, %v", in, err)
	}
	defer a.Close()
	second, b, err := listen(60080, 60089, false)
	if err != nil || second == in {
		t.Fatalf("%v, %v", second, err)
	}
	defer b.Close()
	out, c, err := listen(60080, 60089, true)
	if err != nil || out.Port() >= 60080 && out.Port() <= 60089 {
		t.Fatalf("%v, %v", out, err)
	}
	defer c.Close()
}
