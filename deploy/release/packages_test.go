package main

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// An apk has a script of its own for upgrades; the other formats run that of an installation then.
func TestUpgradeOfAnAPK(t *testing.T) {
	is := is.New(t)
	f, err := os.Open(theRelease(t).name(platform, ".apk"))
	is.NoErr(err)
	defer f.Close()
	packed, err := gzip.NewReader(f)
	is.NoErr(err)
	scripts := map[string]string{}
	for r := tar.NewReader(packed); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		is.NoErr(err)
		if strings.HasPrefix(h.Name, ".post-") {
			b, err := io.ReadAll(r)
			is.NoErr(err)
			scripts[h.Name] = string(b)
		}
	}
	is.True(scripts[".post-install"] != "")
	is.Equal(scripts[".post-upgrade"], scripts[".post-install"])
}

// A package is configured although an operator removed the variables, and restarts what runs, also without systemd.
func TestPostInstall(t *testing.T) {
	for name, c := range map[string]struct {
		variables, systemd bool
		want               []string
	}{
		"OpenRC": {true, false, []string{"chown root:imagegend", "chmod 0640",
			"rc-service --ifstarted imagegend restart"}},
		"systemd": {true, true, []string{"chown root:imagegend",
			"systemctl try-restart imagegend.service"}},
		"OpenRC and no imagegend.env":  {false, false, []string{"rc-service --ifstarted imagegend restart"}},
		"systemd and no imagegend.env": {false, true, []string{"systemctl try-restart imagegend.service"}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			root := t.TempDir()
			for _, d := range []string{"bin", "etc/imagegend", "var/lib/imagegend", "run"} {
				is.NoErr(os.MkdirAll(filepath.Join(root, d), 0o755))
			}
			write := func(name, text string) { is.NoErr(os.WriteFile(filepath.Join(root, name), []byte(text), 0o755)) }
			if c.variables {
				write("etc/imagegend/imagegend.env", "")
			}
			if c.systemd {
				is.NoErr(os.MkdirAll(filepath.Join(root, "run/systemd/system"), 0o755))
			}
			for _, program := range []string{"getent", "systemctl", "rc-service"} {
				write("bin/"+program, "#!/bin/sh\necho "+program+` "$@"`)
			}
			for _, program := range []string{"chown", "chmod"} { // which fail without the file
				write("bin/"+program, "#!/bin/sh\necho "+program+` "$@"`+"\n[ -e \"$2\" ]\n")
			}
			script, err := os.ReadFile("../files/postinstall.sh")
			is.NoErr(err)
			text := strings.NewReplacer(" /etc/", " "+root+"/etc/", " /var/", " "+root+"/var/", " /run/", " "+root+
				"/run/").Replace(string(script))
			run := exec.Command("sh", "-c", text)
			run.Env = []string{"PATH=" + filepath.Join(root, "bin")}
			said, err := run.CombinedOutput()
			is.NoErr(err)
			for _, want := range c.want {
				is.True(strings.Contains(string(said), want))
			}
			is.Equal(strings.Contains(string(said), "chown"), c.variables)
		})
	}
}
