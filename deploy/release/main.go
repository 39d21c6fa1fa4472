// Command release makes what a release consists of: archives, packages for Debian, Red Hat and Alpine, container
// images, a list of what each program is made of, and checksums.
//
//	export GOWORK=off
//	cd deploy/release && go run . -version 1.2.3 -tag
//	git checkout v1.2.3 && go run . -version 1.2.3 -out /tmp/release
//
// The first command makes a commit in which the modules of the project require each other at the version, and a tag for
// each of them; the second makes the files.
//
// The result is the same to the byte from any directory: every time is that of the commit, every order is fixed, and
// no path gets into a file.
//
// It is a module of its own, outside of the workspace, so that nobody else needs the modules that make packages.
package main

import (
	"errors"
	"flag"
	"fmt"
	goversion "go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// release is one release under way.
type release struct {
	version string
	source  string    // root of the repository
	out     string    // directory for everything that is made
	time    time.Time // time of every file in it
	targets []target

	work      string    // directory of what document makes
	documents []content // what every archive and package has beside the program
}

// target is a system that the program is built for, in the words of GOOS and GOARCH.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "_" + t.arch }

// everywhere lists all targets. Packages and images are made for those with Linux.
var everywhere = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run() error {
	version := flag.String("version", "", "version, such as 1.2.3")
	out := flag.String("out", "", "directory to make; it must not be there yet")
	tagging := flag.Bool("tag", false, "make the commit of the release and a tag for each module, and no files")
	only := flag.String("targets", "", "systems, such as linux_amd64,linux_arm64; without it, all")
	flag.Parse()
	if *tagging {
		return tagged(*version)
	}
	r, err := newRelease(*version, *out, *only)
	if err != nil {
		return err
	}
	sayToolchain()
	return r.make()
}

// tagged makes the tags of a version and says how to publish them.
func tagged(version string) error {
	if !validVersion(version) {
		return errors.New("give a version such as -version 1.2.3")
	}
	tags, err := tag(version)
	if err != nil {
		return err
	}
	fmt.Printf("git push --atomic origin %s\n", strings.Join(tags, " "))
	return nil
}

// validVersion matches the versions that the go command knows as such, without their v.
var validVersion = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`).MatchString

// toolchain is the oldest Go that what is shipped is built with; cmd/imagegend/internal/doctor says why.
const toolchain = "go1.26.11"

// sayToolchain says which Go builds the programs, and warns of one that is too old. The Go that builds them is the one
// that the command go is.
func sayToolchain() {
	out, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return // the build will say more
	}
	used := strings.TrimSpace(string(out))
	fmt.Fprintln(os.Stderr, "release: built with", used)
	if goversion.IsValid(used) && goversion.Compare(used, toolchain) < 0 {
		fmt.Fprintf(os.Stderr,
			"release: WARNING: %s has known vulnerabilities; ship nothing of this, and build it with GOTOOLCHAIN=%s\n",
			used, toolchain)
	}
}

// newRelease checks the command line and makes the directory, which must not exist: checksums covers everything in
// it.
func newRelease(version, out, only string) (*release, error) {
	if version == "" || strings.HasPrefix(version, "v") || out == "" {
		return nil, errors.New("give a version such as -version 1.2.3 and a directory with -out")
	}
	source, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	r := &release{version: version, source: source, out: out}
	if r.time, err = moment(); err != nil {
		return nil, err
	}
	for _, t := range everywhere {
		// With commas around both, a name cannot match a part of another.
		if only == "" || strings.Contains(","+only+",", ","+t.String()+",") {
			r.targets = append(r.targets, t)
		}
	}
	if len(r.targets) == 0 {
		return nil, fmt.Errorf("no target matches %q; there are %v", only, everywhere)
	}
	// Mkdir fails if the directory exists, so an older release is never mixed with this one.
	return r, os.Mkdir(out, 0o755)
}

// moment returns when the source was committed, unless SOURCE_DATE_EPOCH says otherwise
// (https://reproducible-builds.org/specs/source-date-epoch/).
func moment() (time.Time, error) {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		var err error
		if seconds, err = git("log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	return time.Unix(n, 0).UTC(), err
}

// git returns what git prints, without the line break at its end. It needs a checkout with its history.
func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// make makes everything for each target, and the checksums last. The program is built once and used by every step;
// afterwards it is removed.
func (r *release) make() error {
	r.documents = nil
	defer func() { _ = os.RemoveAll(r.work) }()
	if err := r.document(); err != nil {
		return err
	}
	for _, t := range r.targets {
		program, err := r.build(t)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if err := r.notice(program); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		// What every target gets; below, what only Linux has.
		steps := []func(target, string) error{r.archive, r.materials}
		if t.os == "linux" {
			steps = append(steps, r.packages, r.image)
		}
		// Each step takes the same program, so what is in a package runs as it does in the archive.
		for _, step := range steps {
			if err := step(t, program); err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
		}
		if err := os.RemoveAll(filepath.Dir(program)); err != nil {
			return err
		}
	}
	return r.checksums()
}

// build builds the program into a temporary directory. The flags remove what would differ between machines: paths,
// the state of the checkout, and the build ID. Without cgo the program needs no library of the system. GOFLAGS of the
// environment do not count.
func (r *release) build(t target) (program string, err error) {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "imagegend")
	if t.os == "windows" {
		program += ".exe"
	}
	const set = "-X " + project + "/cmd/imagegend/internal/cli.released="
	c := goCommand(r.source, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= "+set+r.version, "-o",
		program, "./cmd/imagegend")
	c.Env = append(c.Env, "GOFLAGS=", "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	return program, c.Run()
}

// name returns the path of a file of the release, such as imagegend_1.2.3_linux_amd64.tar.gz in the directory.
func (r *release) name(t target, suffix string) string {
	return filepath.Join(r.out, "imagegend_"+r.version+"_"+t.String()+suffix)
}
