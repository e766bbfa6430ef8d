package winapi

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

func TestFiles(t *testing.T) {
	r := &Real{}
	dir, err := filepath.EvalSymlinks(tempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "Name.txt")
	if err := os.WriteFile(file, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := r.Resolve(filepath.Join(dir, "NAME.TXT"))
	if err != nil || o.Path != file || o.Dir {
		t.Fatalf("%+v, %v", o, err)
	}
	if l, err := r.Look(filepath.Join(dir, "name.TXT")); err != nil || l.Kind != KindFile || l.Name != "Name.txt" {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := r.Look(filepath.Join(dir, "none")); err != nil || l.Kind != KindMissing {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := r.Resolve(filepath.Join(dir, "none")); !errors.Is(err, ErrFileNotFound) {
		t.Errorf("%v", err)
	}
	if b, err := r.ReadSmall(file, 10); err != nil || string(b) != "0123456789" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := r.ReadSmall(file, 9); err == nil {
		t.Error("read more than asked for")
	}
	list, err := r.List(dir)
	if err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := r.Security(o); err != nil {
		t.Errorf("%v", err)
	}
	if found, err := r.Find(o); !wine() && (err != nil || found.Path != o.Path) {
		t.Errorf("%+v, %v", found, err)
	}
	other := o
	other.ID[0] ^= 1
	if _, err := r.Security(other); err == nil {
		t.Error("another object's list was read")
	}
	if _, ok, err := r.KeepsACLs(dir); err != nil || !ok && !wine() {
		t.Errorf("%v, %v", ok, err)
	}
	if err := r.RemoveTree(filepath.Join(dir, "sub")); err != nil && !wine() {
		t.Error(err)
	}
}

// TestSymbolicLinks: a link is seen as itself, its text as it stands, and nothing is resolved through it. Wine makes none.
func TestSymbolicLinks(t *testing.T) {
	if wine() {
		t.Skip("Wine makes no symbolic links")
	}
	r := &Real{}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); errors.Is(errOf(err), Errno(1314)) {
		t.Skip("needs the right to make symbolic links")
	} else if err != nil {
		t.Fatal(err)
	}
	if l, err := r.Look(link); err != nil || l.Kind != KindLink || l.Target != "real" {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := r.Resolve(filepath.Join(link, "x")); !errors.Is(err, ErrFileNotFound) && !errors.Is(err, ErrPathNotFound) {
		t.Errorf("below the link: %v", err)
	}
	if err := os.Mkdir(filepath.Join(real, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if o, err := r.Resolve(filepath.Join(link, "x")); err == nil {
		t.Errorf("resolved through the link to %+v", o)
	}
	if err := r.RemoveTree(link); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(real, "x")); err != nil {
		t.Errorf("removing the link reached what it leads to: %v", err)
	}
}

func TestPipeLetsInOneProcess(t *testing.T) {
	r := &Real{}
	self, err := r.UserSID()
	if err != nil {
		t.Fatal(err)
	}
	d := sd.Descriptor{Owner: self, Protected: true, DACL: []sd.ACE{{Mask: 0x1F01FF, SID: self}}}
	pid := uint32(os.Getpid())
	for name, c := range map[string]struct {
		expect, server uint32
		ok             bool
	}{"the expected one": {pid, pid, true}, "another client": {pid + 4, pid, false}, "another server": {pid, pid + 4, false}} {
		t.Run(name, func(t *testing.T) {
			pipe := `\\.\pipe\srt-test-` + strconv.Itoa(os.Getpid()) + strconv.Itoa(len(name))
			l, err := r.NewPipe(pipe, d)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if _, err := r.NewPipe(pipe, d); err == nil {
				t.Error("a second server of the name")
			}
			client := make(chan error, 1)
			go func() {
				c, err := r.Connect(pipe, c.server)
				if err == nil {
					_, err = c.Write([]byte("hello"))
					defer c.Close()
					buf := make([]byte, 2)
					if _, readErr := c.Read(buf); err == nil && c != nil && readErr != nil {
						err = readErr
					}
				}
				client <- err
			}()
			conn, err := l.Accept(c.expect)
			if c.server == pid && (err == nil) != (c.expect == pid) { // a client that turned away may be gone before it is seen
				t.Fatalf("accepted: %v", err)
			}
			if !c.ok {
				if c.server != pid && <-client == nil {
					t.Error("the client took another's pipe for its own")
				}
				if conn != nil {
					_ = conn.Close()
				}
				return
			}
			buf := make([]byte, 5)
			if n, err := conn.Read(buf); err != nil || string(buf[:n]) != "hello" {
				t.Errorf("%q, %v", buf, err)
			}
			if _, err := conn.Write([]byte("ok")); err != nil {
				t.Error(err)
			}
			if err := <-client; err != nil {
				t.Errorf("client: %v", err)
			}
			_ = conn.Close()
		})
	}
}
