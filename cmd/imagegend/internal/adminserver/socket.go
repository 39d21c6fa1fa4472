package adminserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	socketName = "admin.sock"
	// longestSocket is a length, in bytes, that every system accepts for the path of a socket: Linux takes 107, macOS
	// 103.
	longestSocket = 100
)

// Listen opens the admin socket of a data directory. The caller must hold the lock of the database in it: then a
// socket on which nobody answers was left by a process that was killed, and is removed. Only the user of this process
// can connect. Where the path would be too long, the socket lies in the runtime directory, and the data directory
// holds a symbolic link to it. Closing the listener removes both.
func Listen(dir string) (net.Listener, error) {
	place, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	if answers(context.Background(), place) {
		return nil, fmt.Errorf("another process answers on the admin socket %s", place)
	}
	if err := removeStale(place); err != nil {
		return nil, fmt.Errorf("the admin socket that a former process left cannot be removed: %w", err)
	}
	if len(place) <= longestSocket {
		return listen(place)
	}
	return listenElsewhere(place)
}

// removeStale removes a socket on which nobody answers, or the link to one together with its directory.
func removeStale(place string) error {
	if target, err := os.Readlink(place); err == nil {
		os.Remove(target)
		os.Remove(filepath.Dir(target)) // fails unless the directory is empty
	}
	err := os.Remove(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// listen opens a socket with mode 0600.
func listen(path string) (net.Listener, error) {
	l, err := bind(path)
	if err != nil {
		return nil, fmt.Errorf("the admin socket cannot be opened: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// linked is a listener whose socket lies in a directory of its own, to which a link in the data directory leads.
type linked struct {
	net.Listener
	link, dir string
}

// Close also removes the link and the directory.
func (l *linked) Close() error {
	return errors.Join(l.Listener.Close(), os.Remove(l.link), os.RemoveAll(l.dir))
}

// listenElsewhere makes a directory that only the owner can enter, opens the socket in it, and makes the link to it.
// The link comes last, so that it never leads to nothing.
func listenElsewhere(link string) (net.Listener, error) {
	dir, err := os.MkdirTemp(runtimeDir(), "imagegend-")
	if err != nil {
		return nil, fmt.Errorf("no directory for the admin socket can be made: %w", err)
	}
	l, err := listen(filepath.Join(dir, socketName))
	if err == nil {
		err = os.Symlink(filepath.Join(dir, socketName), link)
	}
	if err != nil {
		if l != nil {
			l.Close()
		}
		os.RemoveAll(dir)
		return nil, err
	}
	return &linked{l, link, dir}, nil
}

// runtimeDir returns the directory where sockets belong: systemd sets the first variable for a unit, and a login
// session has the second. A relative path does not count, since it would mean another place to each process. Without
// either it is the directory for temporary files.
func runtimeDir() string {
	for _, name := range []string{"RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"} {
		if dir := os.Getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	return os.TempDir()
}

// socketPath returns where the socket, or the link to it, lies. The path is absolute and free of symbolic links, so
// that server and commands agree on its length, from whatever directory they run and however they name this one.
func socketPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	// An error means that it does not exist yet.
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return filepath.Join(abs, socketName), nil
}

// resolve returns where the link leads, or the place itself if it is not a link.
func resolve(place string) string {
	if target, err := os.Readlink(place); err == nil {
		return target
	}
	return place
}

// Answers reports whether a server answers on the admin socket of a directory.
func Answers(ctx context.Context, dir string) bool {
	place, err := socketPath(dir)
	return err == nil && answers(ctx, place)
}

// answers reports whether somebody listens on the socket. It sends nothing, and does not ask who that is.
func answers(ctx context.Context, place string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", resolve(place))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
