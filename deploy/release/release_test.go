package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/matryer/is"
)

// platform is the one on which the tests can run what was made.
var platform = target{"linux", "amd64"}

// made makes a release out of a clone in a directory of its own.
func made(t *testing.T, version string) *release {
	t.Helper()
	source := filepath.Join(t.TempDir(), "source")
	must(t, "git", "clone", "--quiet", "../..", source)
	r := &release{version: version, source: source, out: t.TempDir(), time: time.Unix(1_700_000_000, 0).UTC(),
		targets: []target{platform}}
	if err := r.make(); err != nil {
		t.Fatal(err)
	}
	return r
}

// shared is the release that most tests look at.
var shared *release

func theRelease(t *testing.T) *release {
	t.Helper()
	if shared != nil {
		return shared
	}
	source, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.MkdirTemp("", "release-test-")
	if err != nil {
		t.Fatal(err)
	}
	r := &release{version: "0.9.0", source: source, out: out, time: time.Unix(1_700_000_000, 0).UTC(),
		targets: []target{platform}}
	if err := r.make(); err != nil {
		t.Fatal(err)
	}
	shared = r
	return r
}

func TestMain(m *testing.M) {
	status := m.Run()
	if shared != nil {
		_ = os.RemoveAll(shared.out)
	}
	os.Exit(status)
}

// must runs a program and returns what it wrote.
func must(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// needs skips a test where the system lacks a program or a right; .ci/run packages installs the programs.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: it takes root to change the root directory")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("NOT RUN: there is no %s", p)
		}
	}
}

// Two builds from two directories are the same to the byte.
func TestReproducible(t *testing.T) {
	is := is.New(t)
	read := func(r *release) string {
		b, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
		is.NoErr(err)
		return string(b)
	}
	first, second := made(t, "0.9.0"), made(t, "0.9.0")
	is.Equal(read(first), read(second))
	is.Equal(strings.Count(read(first), "\n"), 6) // archive, deb, rpm, apk, image, materials
	check := exec.Command("sha256sum", "--check", "--quiet", "SHA256SUMS")
	check.Dir = first.out
	is.NoErr(check.Run())
}

func TestMaterials(t *testing.T) {
	is := is.New(t)
	b, err := os.ReadFile(theRelease(t).name(platform, ".cdx.json"))
	is.NoErr(err)
	var bill struct {
		BOMFormat  string
		Components []struct{ Name, Version string }
	}
	is.NoErr(json.Unmarshal(b, &bill))
	is.Equal(bill.BOMFormat, "CycloneDX")
	versions := map[string]string{}
	for _, c := range bill.Components {
		versions[c.Name] = c.Version
	}
	is.True(versions["go.etcd.io/bbolt"] != "")
	is.Equal(versions[project], "v0.9.0") // the modules of the project have the version of the release
	is.Equal(versions[project+"/imagegen/console"], "v0.9.0")
}

// The unit is known to systemd in each of its lines, and confines the service.
func TestUnit(t *testing.T) {
	needs(t, "systemd-analyze")
	is := is.New(t)
	said := must(t, "systemd-analyze", "security", "--offline=true", "--threshold=20", "../files/imagegend.service")
	is.True(strings.Contains(said, "Overall exposure level"))
	out, _ := exec.Command("systemd-analyze", "verify", "--man=no", "../files/imagegend.service").CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "/usr/bin/imagegend is not executable") { // it is not installed here
			t.Errorf("systemd-analyze verify: %s", line)
		}
	}
}

// The deb is put by dpkg into a new Debian.
func TestDebian(t *testing.T) {
	needs(t, "mmdebstrap", "chroot")
	root := clean(t)
	lives(t, root, ".deb", func(file string) {
		must(t, "cp", file, filepath.Join(root, "imagegend.deb"))
		must(t, "chroot", root, "dpkg", "--install", "--force-confold", "/imagegend.deb")
	}, func() { must(t, "chroot", root, "dpkg", "--purge", "imagegend") })
}

// The rpm is put by rpm into the same, which has no packages of its kind: so nothing is asked of them.
func TestRPM(t *testing.T) {
	needs(t, "mmdebstrap", "chroot", "rpm")
	root := clean(t)
	rpm := func(args ...string) {
		t.Helper()
		must(t, "rpm", append([]string{"--root", root, "--dbpath", "/var/lib/rpm", "--force-debian", "--nodeps"},
			args...)...)
	}
	lives(t, root, ".rpm", func(file string) { rpm("--upgrade", file) }, func() { rpm("--erase", "imagegend") })
}

// clean is the root of a new system.
func clean(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	must(t, "mmdebstrap", "--variant=essential", "--include=passwd,libc-bin", "--quiet", codename(t), root)
	return root
}

// lives has a package installed in a clean system, upgraded with the data in place, and removed without losing them.
func lives(t *testing.T, root, format string, install func(file string), remove func()) {
	t.Helper()
	is := is.New(t)
	in := func(args ...string) string { t.Helper(); return must(t, "chroot", append([]string{root}, args...)...) }
	old := theRelease(t)
	install(old.name(platform, format))
	is.True(strings.Contains(in("/usr/bin/imagegend", "version"), "imagegend 0.9.0 "))
	asUser := func(args ...string) string {
		t.Helper()
		return in(append([]string{"setpriv", "--reuid=imagegend", "--regid=imagegend", "--clear-groups",
			"/usr/bin/imagegend"}, args...)...)
	}
	dir, err := os.Stat(filepath.Join(root, "var/lib/imagegend"))
	is.NoErr(err)
	is.Equal(dir.Mode().Perm(), os.FileMode(0o700))
	owner := dir.Sys().(*syscall.Stat_t)
	is.True(owner.Uid != 0)
	serveIn(t, root, syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}, "/usr/bin/imagegend", "--data-dir",
		"/var/lib/imagegend")
	asUser("user", "create", "alice", "--credits", "7", "--data-dir", "/var/lib/imagegend")
	asUser("config", "validate", "--config", "/etc/imagegend/imagegend.yaml")
	settings := filepath.Join(root, "etc/imagegend/imagegend.yaml")
	changed := []byte("data-dir: /var/lib/imagegend\nmodels: fake\n# mine\n")
	is.NoErr(os.WriteFile(settings, changed, 0o644))

	newer := *old
	newer.version, newer.out = "0.9.1", t.TempDir()
	is.NoErr(newer.make())
	install(newer.name(platform, format))
	is.True(strings.Contains(in("/usr/bin/imagegend", "version"), "imagegend 0.9.1 "))
	kept, err := os.ReadFile(settings)
	is.NoErr(err)
	is.Equal(string(kept), string(changed)) // what an operator wrote stays
	is.True(strings.Contains(asUser("user", "list", "--data-dir", "/var/lib/imagegend"), "alice"))

	remove()
	_, err = os.Stat(filepath.Join(root, "usr/bin/imagegend"))
	is.True(errors.Is(err, os.ErrNotExist))
	_, err = os.Stat(filepath.Join(root, "var/lib/imagegend/imagegen.db"))
	is.NoErr(err) // credits and images stay
}

// codename is the name of this machine's Debian, whose keys it has.
func codename(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/etc/os-release")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "VERSION_CODENAME="); ok {
			return strings.TrimSpace(name)
		}
	}
	t.Skip("NOT RUN: this system has no codename of Debian")
	return ""
}

// The image holds all that the program needs: it serves from nothing but its own root, as nobody.
func TestImage(t *testing.T) {
	needs(t, "chroot")
	root, config := theImage(t)
	is.New(t).Equal(config.Config.User, "65532:65532")
	serveIn(t, root, syscall.Credential{Uid: nobody, Gid: nobody}, "/imagegend", "--data-dir", "/data")
}

// A runtime that has no more rights than a user starts the image.
func TestRootless(t *testing.T) {
	needs(t, "runc")
	is := is.New(t)
	root, config := theImage(t)
	bundle := filepath.Dir(root)
	must(t, "chown", "-R", "65532:65532", bundle)
	address := free(t)
	spec, err := json.Marshal(rootlessSpec(append(config.Config.Entrypoint, "serve", "--addr", address, "--models",
		"fake", "--data-dir", "/data")))
	is.NoErr(err)
	is.NoErr(os.WriteFile(filepath.Join(bundle, "config.json"), spec, 0o644))
	run := exec.Command("runc", "--rootless=true", "--root", filepath.Join(bundle, "state"), "run", "--bundle", bundle,
		filepath.Base(t.TempDir()))
	run.Env, run.Dir = []string{"PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + bundle}, bundle
	run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	serves(t, run, address)
}

// rootlessSpec has a command run in the image, whose root is read-only, as a user who is nobody outside. It shares the
// network, so that the test reaches it.
func rootlessSpec(command []string) any {
	type object = map[string]any
	mapping := []object{{"containerID": 0, "hostID": nobody, "size": 1}}
	return object{
		"ociVersion": "1.0.2",
		"root":       object{"path": "rootfs", "readonly": true},
		"process": object{"args": command, "cwd": "/", "env": []string{}, "user": object{"uid": 0, "gid": 0},
			"noNewPrivileges": true},
		"mounts": []object{
			{"destination": "/proc", "type": "proc", "source": "proc"},
			{"destination": "/data", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "nodev",
				"mode=0700"}},
		},
		"linux": object{
			"namespaces":  []object{{"type": "pid"}, {"type": "user"}, {"type": "mount"}},
			"uidMappings": mapping, "gidMappings": mapping,
		},
	}
}

// theImage is the root of the image and its configuration.
func theImage(t *testing.T) (root string, config *v1.ConfigFile) {
	t.Helper()
	is := is.New(t)
	image, err := tarball.ImageFromPath(theRelease(t).name(platform, ".oci.tar"), nil)
	is.NoErr(err)
	config, err = image.ConfigFile()
	is.NoErr(err)
	layers, err := image.Layers()
	is.NoErr(err)
	bundle, err := os.MkdirTemp("", "image-test-") // where others may enter, unlike t.TempDir
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(os.RemoveAll(bundle)) })
	is.NoErr(os.Chmod(bundle, 0o755))
	root = filepath.Join(bundle, "rootfs")
	is.NoErr(os.Mkdir(root, 0o755))
	is.NoErr(os.Mkdir(filepath.Join(root, "proc"), 0o755)) // runtimes make it where it can be written
	for _, l := range layers {
		unpacked, err := l.Uncompressed()
		is.NoErr(err)
		unpack(t, root, unpacked)
		is.NoErr(unpacked.Close())
	}
	return root, config
}

// serveIn runs the service with another root directory until it is ready, and ends it.
func serveIn(t *testing.T, root string, who syscall.Credential, program string, args ...string) {
	t.Helper()
	address := free(t)
	serve := exec.Command(program, append([]string{"serve", "--addr", address, "--models", "fake"}, args...)...)
	serve.Env, serve.Dir = []string{}, "/"
	serve.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &who}
	serves(t, serve, address)
}

// free is an address on which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.New(t).NoErr(err)
	defer l.Close()
	return l.Addr().String()
}

// serves runs a command until the service that it starts is ready, and ends it.
func serves(t *testing.T, serve *exec.Cmd, address string) {
	t.Helper()
	is := is.New(t)
	var said bytes.Buffer
	serve.Stdout, serve.Stderr = &said, &said
	is.NoErr(serve.Start())
	defer serve.Process.Kill()
	for deadline := time.Now().Add(time.Minute); !ready(address); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			serve.Process.Kill()
			t.Fatalf("the service is not ready: %v: %s", serve.Wait(), &said)
		}
	}
	is.NoErr(serve.Process.Signal(syscall.SIGTERM))
	is.NoErr(serve.Wait())
}

func ready(address string) bool {
	answer, err := http.Get("http://" + address + "/readyz")
	return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

func unpack(t *testing.T, root string, from io.Reader) {
	t.Helper()
	is := is.New(t)
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		is.NoErr(err)
		path := filepath.Join(root, h.Name)
		if h.Typeflag == tar.TypeDir {
			is.NoErr(os.MkdirAll(path, 0o755))
		} else {
			b, err := io.ReadAll(r)
			is.NoErr(err)
			is.NoErr(os.WriteFile(path, b, 0o644))
		}
		is.NoErr(os.Chown(path, h.Uid, h.Gid))
		is.NoErr(os.Chmod(path, h.FileInfo().Mode()))
	}
}
