package winapi

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

var (
	kernel32         = windows.NewLazySystemDLL("kernel32.dll")
	procOpenFileByID = kernel32.NewProc("OpenFileById")
)

// fileIDInfo is FILE_ID_INFO.
type fileIDInfo struct {
	volume uint64
	id     [16]byte
}

// fileIDDescriptor is FILE_ID_DESCRIPTOR with an extended id.
type fileIDDescriptor struct {
	size uint32
	kind uint32
	id   [16]byte
}

const (
	extendedFileID  = 2
	nameSurrogate   = 0x20000000 // the bit of a reparse tag that says: stands for another name
	persistentACLs  = 0x8
	shareEverything = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	asItself        = windows.FILE_FLAG_BACKUP_SEMANTICS | windows.FILE_FLAG_OPEN_REPARSE_POINT
)

func long(path string) string { return `\\?\` + path }

// openItself opens a path without following its last component.
func openItself(path string, access uint32) (windows.Handle, error) {
	p, err := utf16(long(path))
	if err != nil {
		return 0, errOf(err)
	}
	h, err := windows.CreateFile(p, access, shareEverything, nil, windows.OPEN_EXISTING, asItself, 0)
	return h, errOf(err)
}

func objectOf(h windows.Handle) (Object, error) {
	var id fileIDInfo
	if err := windows.GetFileInformationByHandleEx(h, windows.FileIdInfo, (*byte)(unsafe.Pointer(&id)), uint32(unsafe.Sizeof(id))); err != nil {
		return Object{}, errOf(err)
	}
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return Object{}, errOf(err)
	}
	buf := make([]uint16, 1024)
	for {
		n, err := windows.GetFinalPathNameByHandle(h, &buf[0], uint32(len(buf)), 0)
		if err != nil {
			return Object{}, errOf(err)
		}
		if int(n) <= len(buf) {
			break
		}
		buf = make([]uint16, n)
	}
	return Object{Path: strings.TrimPrefix(windows.UTF16ToString(buf), `\\?\`), Volume: id.volume, ID: id.id,
		Dir: info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0}, nil
}

// Resolve implements Files.
func (*Real) Resolve(path string) (Object, error) {
	h, err := openItself(path, windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return Object{}, err
	}
	defer windows.CloseHandle(h)
	o, err := objectOf(h)
	if err != nil {
		return Object{}, err
	}
	if winpath.Key(o.Path) != winpath.Key(path) {
		return Object{}, ErrPathNotFound
	}
	return o, nil
}

// pinned opens the object that o was resolved to.
func pinned(o Object, access uint32) (windows.Handle, error) {
	h, err := openItself(o.Path, access|windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return 0, err
	}
	now, err := objectOf(h)
	if err == nil && (now.Volume != o.Volume || now.ID != o.ID || winpath.Key(now.Path) != winpath.Key(o.Path)) {
		err = Errno(1117) // another object by now
	}
	if err != nil {
		return 0, errors.Join(err, errOf(windows.CloseHandle(h)))
	}
	return h, nil
}

// Find implements Files.
func (*Real) Find(o Object) (Object, error) {
	root, err := openItself(winpath.Root(o.Path), windows.FILE_READ_ATTRIBUTES)
	if errors.Is(err, ErrPathNotFound) || errors.Is(err, Errno(21)) { // the drive is gone, or not ready
		return Object{}, ErrFileNotFound
	}
	if err != nil {
		return Object{}, err
	}
	defer windows.CloseHandle(root)
	volume, err := objectOf(root)
	if err != nil {
		return Object{}, err
	}
	if volume.Volume != o.Volume {
		return Object{}, ErrFileNotFound
	}
	d := fileIDDescriptor{size: uint32(unsafe.Sizeof(fileIDDescriptor{})), kind: extendedFileID, id: o.ID}
	r, _, err := procOpenFileByID.Call(uintptr(root), uintptr(unsafe.Pointer(&d)), windows.FILE_READ_ATTRIBUTES, shareEverything, 0, asItself)
	h := windows.Handle(r)
	if h == windows.InvalidHandle {
		if e := errOf(err); errors.Is(e, Errno(87)) { // no file has this id
			return Object{}, ErrFileNotFound
		}
		return Object{}, errOf(err)
	}
	defer windows.CloseHandle(h)
	return objectOf(h)
}

// Look implements Files.
func (*Real) Look(path string) (Look, error) {
	if len(path) == 3 {
		if _, err := os.Lstat(path); err != nil {
			return Look{}, missing(err)
		}
		return Look{Kind: KindDir}, nil
	}
	p, err := utf16(long(path))
	if err != nil {
		return Look{}, errOf(err)
	}
	var data windows.Win32finddata
	h, err := windows.FindFirstFile(p, &data)
	if err != nil {
		return Look{}, missing(err)
	}
	if err := windows.FindClose(h); err != nil {
		return Look{}, errOf(err)
	}
	l := Look{Name: windows.UTF16ToString(data.FileName[:])}
	switch {
	case data.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 && data.Reserved0&nameSurrogate != 0:
		l.Kind = KindLink
		if target, err := os.Readlink(long(path)); err == nil { // unreadable: it leads nowhere
			l.Target = target
		}
	case data.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		l.Kind = KindDir
	default:
		l.Kind = KindFile
	}
	return l, nil
}

// missing turns the errors that mean "nothing is there" into none.
func missing(err error) error {
	switch e := errOf(err); {
	case errors.Is(e, ErrFileNotFound), errors.Is(e, ErrPathNotFound), errors.Is(e, ErrAccessDenied), errors.Is(e, Errno(123)), errors.Is(e, Errno(21)):
		return nil
	default:
		return e
	}
}

// ReadSmall implements Files.
func (*Real) ReadSmall(path string, limit int) ([]byte, error) {
	h, err := openItself(path, windows.FILE_READ_DATA|windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(h), path)
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, errOf(err)
	}
	if !info.Mode().IsRegular() || info.Size() > int64(limit) {
		return nil, Errno(87)
	}
	b := make([]byte, limit+1)
	n, err := f.Read(b)
	if err != nil && n == 0 && info.Size() > 0 {
		return nil, errOf(err)
	}
	if n > limit {
		return nil, Errno(87)
	}
	return b[:n], nil
}

// List implements Files.
func (w *Real) List(path string) ([]Entry, error) {
	d, err := os.Open(long(path))
	if err != nil {
		return nil, errOf(err)
	}
	defer d.Close()
	names, err := d.ReadDir(-1)
	if err != nil {
		return nil, errOf(err)
	}
	out := make([]Entry, 0, len(names))
	for _, n := range names {
		e := Entry{Name: n.Name(), Dir: n.IsDir(), Link: n.Type()&fs.ModeSymlink != 0}
		if n.Type()&fs.ModeIrregular != 0 { // a junction, or a file that a cloud service brings when it is opened: only the first leads away
			l, err := w.Look(winpath.Join(path, e.Name))
			if err != nil {
				return nil, err
			}
			e.Dir, e.Link = l.Kind == KindDir, l.Kind == KindLink
		}
		out = append(out, e)
	}
	return out, nil
}

// Security implements Files.
func (*Real) Security(o Object) (sd.Descriptor, error) {
	h, err := pinned(o, windows.READ_CONTROL)
	if err != nil {
		return sd.Descriptor{}, err
	}
	defer windows.CloseHandle(h)
	return getSecurity(h, windows.SE_FILE_OBJECT)
}

// SetDACL implements Files.
func (*Real) SetDACL(o Object, d sd.Descriptor) error {
	h, err := pinned(o, windows.READ_CONTROL|windows.WRITE_DAC)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return setListAlone(h, d)
}

// MakeDir implements Files.
func (*Real) MakeDir(path string, d sd.Descriptor) error {
	p, err := utf16(long(path))
	if err != nil {
		return errOf(err)
	}
	a, err := attributes(d, false)
	if err != nil {
		return err
	}
	return errOf(windows.CreateDirectory(p, a))
}

// DirSecurity implements Files.
func (*Real) DirSecurity(path string, d sd.Descriptor) error {
	h, err := openItself(path, windows.READ_CONTROL|windows.WRITE_DAC|windows.WRITE_OWNER)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return setSecurity(h, windows.SE_FILE_OBJECT, d)
}

// RemoveTree implements Files.
func (*Real) RemoveTree(path string) error {
	if _, err := os.Lstat(long(path)); err != nil {
		return errOf(err)
	}
	return errOf(os.RemoveAll(long(path))) // removes a link, never what it leads to
}

// KeepsACLs implements Files.
func (*Real) KeepsACLs(path string) (string, bool, error) {
	root, err := utf16(winpath.Root(path))
	if err != nil {
		return "", false, errOf(err)
	}
	name := make([]uint16, 64)
	var flags uint32
	if err := windows.GetVolumeInformation(root, nil, 0, nil, nil, &flags, &name[0], uint32(len(name))); err != nil {
		return "", false, errOf(err)
	}
	local := windows.GetDriveType(root) != windows.DRIVE_REMOTE
	return windows.UTF16ToString(name), flags&persistentACLs != 0 && local, nil
}
