// Package mounts makes the mount view of one command, inside the mount namespace that bwrap made and while the init still holds
// CAP_SYS_ADMIN over it. Every source and every target is a descriptor that was resolved without following a link, so a link that
// the workspace plants can never redirect a mount. It decides nothing: what to mount where is written in the view.View.
package mounts
