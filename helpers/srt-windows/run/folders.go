package run

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/runas"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

func (s *session) tmp() string    { return winpath.Join(s.folder, "tmp") }
func (s *session) home() string   { return winpath.Join(s.folder, "home") }
func (s *session) canary() string { return winpath.Join(s.folder, "check") }

// makeFolders makes the run's own folders, after removing what ended runs of this user left. The name says whose they are.
func (s *session) makeFolders() error {
	if err := s.sweepFolders(); err != nil {
		return err
	}
	raw := make([]byte, 12)
	if _, err := io.ReadFull(s.m.Random, raw); err != nil {
		return fmt.Errorf("draw a name for the run: %w", err)
	}
	s.id = fmt.Sprintf("%d-%d-%s", s.holder.Pid, s.holder.Started, hex.EncodeToString(raw))
	s.folder = winpath.Join(s.rec.RunFolder, s.id)
	s.runRoot = sd.ForRoot("run " + s.id)
	security := runas.RunSecurity(s.user, s.rec.GroupSID, s.runRoot)
	s.undo = append(s.undo, func() error {
		if err := s.m.Sys.RemoveTree(s.folder); err != nil && !errors.Is(err, winapi.ErrFileNotFound) {
			return fmt.Errorf("remove the run's own folder %q: %w", s.folder, err)
		}
		return nil
	})
	for _, dir := range []string{s.folder, s.tmp(), s.home(), winpath.Join(s.home(), "AppData"), winpath.Join(s.home(), `AppData\Roaming`), winpath.Join(s.home(), `AppData\Local`)} {
		if err := s.m.Sys.MakeDir(dir, security); err != nil {
			return fmt.Errorf("make the run's own folder %q: %w", dir, err)
		}
	}
	if err := s.m.Sys.MakeDir(s.canary(), canarySecurity(s.user, s.rec.UserSID)); err != nil {
		return fmt.Errorf("make the self-check's folder %q: %w", s.canary(), err)
	}
	if err := s.m.Touch(winpath.Join(s.canary(), "file")); err != nil {
		return fmt.Errorf("make the self-check's file: %w", err)
	}
	return nil
}

// canarySecurity lets the account do everything by its ordinary rights, as it could in a folder that was made under C:\. Only the
// restricted token is in the way, and that is what the self-check is about.
func canarySecurity(user, account sd.SID) sd.Descriptor {
	return sd.Descriptor{Owner: user, Protected: true, DACL: []sd.ACE{
		{Mask: sd.MaskAll, Flags: sd.Inherit, SID: user},
		{Mask: sd.MaskAll, Flags: sd.Inherit, SID: account},
		{Mask: sd.MaskAll, Flags: sd.Inherit, SID: sd.Users},
	}}
}

// sweepFolders removes the folders of ended runs. One that is another user's, or not named by srt, is left alone.
func (s *session) sweepFolders() error {
	entries, err := s.m.Sys.List(s.rec.RunFolder)
	if err != nil {
		return fmt.Errorf("look for ended runs in %q: %w", s.rec.RunFolder, err)
	}
	for _, e := range entries {
		pid, started, ok := parseRun(e.Name)
		if !ok || e.Link {
			continue
		}
		alive, err := s.m.Sys.ProcessAlive(pid, started)
		if err != nil {
			return fmt.Errorf("ask whether process %d still runs: %w", pid, err)
		}
		if alive {
			continue
		}
		err = s.m.Sys.RemoveTree(winpath.Join(s.rec.RunFolder, e.Name))
		if err != nil && !errors.Is(err, winapi.ErrFileNotFound) && !errors.Is(err, winapi.ErrAccessDenied) {
			return fmt.Errorf("remove what run %q left: %w", e.Name, err)
		}
	}
	return nil
}

func parseRun(name string) (pid uint32, started uint64, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 3 || len(parts[2]) != 24 {
		return 0, 0, false
	}
	p, err1 := strconv.ParseUint(parts[0], 10, 32)
	t, err2 := strconv.ParseUint(parts[1], 10, 64)
	return uint32(p), t, err1 == nil && err2 == nil
}
