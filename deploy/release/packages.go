package main

import (
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes a deb, an rpm and an apk.
func (r *release) packages(t target, program string) error {
	for _, format := range []string{"deb", "rpm", "apk"} {
		if err := r.pack(t, program, format); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) pack(t target, program, format string) error {
	info := &nfpm.Info{
		Name: "imagegend", Arch: t.arch, Platform: "linux", Version: r.version, VersionSchema: "semver", Release: "1", MTime: r.time,
		Section: "net", Priority: "optional", License: "Apache-2.0",
		Maintainer:  "imagegend <imagegend@users.noreply.github.com>",
		Description: "Image generation service metered in credits\nOne program that charges for images, has providers make them, stores them and refunds what did not come.",
		Homepage:    "https://github.com/imagegend/imagegend",
		Overridables: nfpm.Overridables{
			Contents: r.installed(program, format),
			Scripts: nfpm.Scripts{
				PostInstall: r.path("deploy/files/postinstall.sh"),
				PreRemove:   r.path("deploy/files/preremove.sh"),
				PostRemove:  r.path("deploy/files/postremove.sh"),
			},
			Recommends: []string{"ca-certificates"},
		},
	}
	info.RPM.BuildHost = "localhost"
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

// installed is what a package puts where. Files of /etc that an operator has changed are left as they are.
func (r *release) installed(program, format string) (all files.Contents) {
	add := func(from, to, kind string, mode os.FileMode) {
		all = append(all, &files.Content{Source: r.path(from), Destination: to, Type: kind, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.time, Owner: "root", Group: "root"}})
	}
	add(program, "/usr/bin/imagegend", files.TypeFile, 0o755)
	add("deploy/files/imagegend.yaml", "/etc/imagegend/imagegend.yaml", files.TypeConfigNoReplace, 0o644)
	add("deploy/files/imagegend.env", "/etc/imagegend/imagegend.env", files.TypeConfigNoReplace, 0o640)
	if format == "apk" {
		add("deploy/files/imagegend.openrc", "/etc/init.d/imagegend", files.TypeFile, 0o755)
	} else {
		add("deploy/files/imagegend.service", "/usr/lib/systemd/system/imagegend.service", files.TypeFile, 0o644)
	}
	for _, d := range r.documents() {
		add(d.from, filepath.Join("/usr/share/doc/imagegend", filepath.Base(d.name)), files.TypeFile, 0o644)
	}
	return all
}
