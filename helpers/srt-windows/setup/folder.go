package setup

import (
	"fmt"

	"github.com/srt-dev/srt/helpers/srt-windows/account"
	"github.com/srt-dev/srt/helpers/srt-windows/limits"
	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
	"github.com/srt-dev/srt/helpers/srt-windows/winpath"
)

// runFolder is where the folder for the commands' own folders lies.
func runFolder(api winapi.Self) (string, error) {
	base, err := api.ProgramData()
	if err != nil {
		return "", fmt.Errorf("find the folder for programs' data: %w", err)
	}
	return winpath.Join(base, limits.RunFolder), nil
}

// ownFolder says whether the folder is there. One that is not the administrators', or no folder, is Foreign.
func ownFolder(api winapi.Files, path string) (exists bool, err error) {
	foreign := func(detail string) error {
		return &problem.Error{Code: problem.Foreign, Op: "make the run folder", Path: path, Detail: detail, Fix: "remove it"}
	}
	look, err := api.Look(path)
	switch {
	case err != nil:
		return false, fmt.Errorf("look at %q: %w", path, err)
	case look.Kind == winapi.KindMissing:
		return false, nil
	case look.Kind != winapi.KindDir:
		return false, foreign("a link or a file has this name")
	}
	o, err := api.Resolve(path)
	if err != nil {
		return false, fmt.Errorf("open %q: %w", path, err)
	}
	have, err := api.Security(o)
	if err != nil {
		return false, fmt.Errorf("read who owns %q: %w", path, err)
	}
	if have.Owner != sd.Administrators && have.Owner != sd.LocalSystem {
		return false, foreign("a folder of this name belongs to " + string(have.Owner) + ", not to the administrators")
	}
	return true, nil
}

// makeRunFolder makes the folder for the commands' own folders. An earlier one, or one that an administrator put there, is taken over:
// only its list matters, and what lies in it is nobody's project.
func (r *Record) makeRunFolder(api winapi.System) (err error) {
	if r.RunFolder == "" {
		if r.RunFolder, err = runFolder(api); err != nil {
			return err
		}
		if err := r.save(api); err != nil {
			return err
		}
	}
	security := account.RunFolderSecurity(r.Users)
	exists, err := ownFolder(api, r.RunFolder)
	switch {
	case err != nil:
		return err
	case exists:
		if err := api.DirSecurity(r.RunFolder, security); err != nil {
			return fmt.Errorf("set the access list of %q: %w", r.RunFolder, err)
		}
		return nil
	}
	if err := api.MakeDir(r.RunFolder, security); err != nil {
		return fmt.Errorf("make the folder %q: %w", r.RunFolder, err)
	}
	return nil
}
