package mounts

import "golang.org/x/sys/unix"

// Thousands of protected files are what takes long to mount, and mount(2) covers a file with one system call where descriptors need three.
// But it takes names and follows links. So what it takes is named on a mount on which no link is followed, where the tree is
// read-only: whatever it covers with is that, under the name that it was told. Where it puts it is named by the whole path, and a link
// that was planted on the way since may lead it astray. Then some protected path stays uncovered, as each is covered once, and Verify,
// which goes by descriptors, sees that: nothing else can make a mount point of it. For that no two steps may have the path, and the
// writable tree must carry no mount of the host's.

// manyFiles are so many that another mount for each writable tree pays.
const manyFiles = 16

// lay mounts at t what under shows, read-only and without following links, as what a writable mount is put over. It gives its root, or -1
// when that cannot be.
func lay(under, t int) int {
	m, err := cloneTree(under)
	if err != nil {
		return -1
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOSYMFOLLOW}
	if setAttr(m, true, attr) != nil || attach(m, t) != nil {
		unix.Close(m)
		return -1
	}
	return m
}

// stand makes the directory rel of a laid mount the working directory, if it can be.
func (p *parents) stand(still int, rel string) error {
	fd, err := resolve(still, rel)
	if err != nil {
		return err
	}
	if unix.Fchdir(fd) != nil {
		unix.Close(fd)
		return nil
	}
	p.still = fd
	return nil
}

// stir closes the laid mounts, which stay below the writable ones.
func (p *parents) stir() {
	p.leave()
	for i, w := range p.writable {
		if w.still >= 0 {
			unix.Close(w.still)
		}
		p.writable[i].still = -1
	}
}
