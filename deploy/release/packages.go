package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes a deb, an rpm and an apk, with the same files and scripts.
func (r *release) packages(t target, program string) error {
	dir, err := os.MkdirTemp("", "imagegend-scripts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	scripts, err := r.scripts(dir)
	if err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm", "apk"} {
		if err := r.pack(t, program, format, scripts); err != nil {
			return err
		}
	}
	return nil
}

// scripts copies the scripts and gives the copies the time of the release: an apk records when the files of its
// scripts were changed.
func (r *release) scripts(dir string) (nfpm.Scripts, error) {
	s := nfpm.Scripts{PostInstall: filepath.Join(dir, "postinstall.sh"), PreRemove: filepath.Join(dir, "preremove.sh"),
		PostRemove: filepath.Join(dir, "postremove.sh")}
	for _, path := range []string{s.PostInstall, s.PreRemove, s.PostRemove} {
		b, err := os.ReadFile(r.path("deploy/files/" + filepath.Base(path)))
		if err != nil {
			return s, err
		}
		if err := os.WriteFile(path, b, 0o755); err != nil {
			return s, err
		}
		if err := os.Chtimes(path, r.time, r.time); err != nil {
			return s, err
		}
	}
	return s, nil
}

// pack makes one package.
func (r *release) pack(t target, program, format string, scripts nfpm.Scripts) error {
	info := &nfpm.Info{
		Name: "imagegend", Arch: t.arch, Platform: "linux", Version: r.version, VersionSchema: "semver", Release: "1",
		MTime: r.time, Section: "net", Priority: "optional", License: "Apache-2.0",
		Maintainer:  "imagegend <imagegend@users.noreply.github.com>",
		Description: "Image generation service metered in credits\nOne program that charges for images, has providers make them, stores them and refunds what did not come.",
		Homepage:    "https://github.com/imagegend/imagegend",
		Overridables: nfpm.Overridables{
			Contents:   r.installed(program, format),
			Scripts:    scripts,
			Recommends: []string{"ca-certificates"},
		},
	}
	// An apk does not run the script of an installation when it is upgraded; the other formats do.
	info.APK.Scripts.PostUpgrade = scripts.PostInstall
	info.RPM.BuildHost = "localhost" // otherwise this machine's name
	// The formats register themselves when their packages are imported.
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	f, err := os.Create(r.name(t, "."+format))
	if err != nil {
		return err
	}
	if err := packager.Package(info, f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// installed returns what a package installs and where. Upgrades leave files in /etc that an operator has changed as
// they are.
func (r *release) installed(program, format string) (all files.Contents) {
	add := func(from, to, kind string, mode os.FileMode) {
		all = append(all, &files.Content{Source: r.path(from), Destination: to, Type: kind,
			FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.time, Owner: "root", Group: "root"}})
	}
	add(program, "/usr/bin/imagegend", files.TypeFile, 0o755)
	add("deploy/files/imagegend.yaml", "/etc/imagegend/imagegend.yaml", files.TypeConfigNoReplace, 0o644)
	add("deploy/files/imagegend.env", "/etc/imagegend/imagegend.env", files.TypeConfigNoReplace, 0o640)
	// Alpine has OpenRC in place of systemd.
	if format == "apk" {
		add("deploy/files/imagegend.openrc", "/etc/init.d/imagegend", files.TypeFile, 0o755)
	} else {
		add("deploy/files/imagegend.service", "/usr/lib/systemd/system/imagegend.service", files.TypeFile, 0o644)
	}
	for _, d := range append(slices.Clone(r.documents), content{from: filepath.Join(r.work, notices), name: notices}) {
		add(d.from, filepath.Join("/usr/share/doc/imagegend", d.name), files.TypeFile, 0o644)
	}
	zsh := "/usr/share/zsh/site-functions/_imagegend"
	if format == "deb" {
		zsh = "/usr/share/zsh/vendor-completions/_imagegend"
	}
	for name, to := range map[string]string{manual: "/usr/share/man/man1/imagegend.1.gz", completions["zsh"]: zsh,
		completions["bash"]: "/usr/share/bash-completion/completions/imagegend",
		completions["fish"]: "/usr/share/fish/vendor_completions.d/imagegend.fish"} {
		add(filepath.Join(r.work, name), to, files.TypeFile, 0o644)
	}
	return all
}
