package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
)

// startDatabase starts a PostgreSQL and returns its address.
func startDatabase(ctx context.Context, started *processes, dir string) (url string, err error) {
	programs, err := postgresPrograms()
	if err != nil {
		return "", err
	}
	home := filepath.Join(dir, "postgres")
	if err := os.Mkdir(home, 0o700); err != nil {
		return "", err
	}
	as, err := unprivileged(dir, home)
	if err != nil {
		return "", err
	}
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	data := filepath.Join(home, "data")
	command := func(program string, args ...string) *exec.Cmd {
		line := append(slices.Clone(as), append([]string{filepath.Join(programs, program)}, args...)...)
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Dir = home
		return cmd
	}
	if said, err := command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C").
		CombinedOutput(); err != nil {
		return "", fmt.Errorf("the database cannot be made: %w\n%s", err, said)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	// An interrupt has PostgreSQL end without waiting for its clients.
	server := command("postgres", "-D", data, "-p", port, "-k", home, "-c", "listen_addresses=127.0.0.1")
	return "postgres://postgres@" + address + "/postgres?sslmode=disable", started.start(ctx, "postgres", dir, address,
		os.Interrupt, server)
}

// postgresPrograms is the directory of PostgreSQL's programs: that of initdb in PATH, or where Debian's packages have
// them.
func postgresPrograms() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errors.New("there is no PostgreSQL: have initdb and postgres in PATH, or run apt-get install postgresql")
	}
	return filepath.Dir(slices.Max(found)), nil
}

// unprivileged is what a command begins with that does not run as root, which PostgreSQL refuses: as the user postgres.
func unprivileged(dir, home string) ([]string, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres: run this as another user")
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Chmod(dir, 0o711), os.Chown(home, uid, -1)); err != nil {
		return nil, err
	}
	return []string{"setpriv", "--reuid", u.Uid, "--regid", u.Gid, "--clear-groups"}, nil
}
