package admin

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
	// longestSocket is below what every system takes for the path of a socket.
	longestSocket = 100
)

// Listen opens the socket of a data directory for the process that has its database open. Only
// the owner of the directory can reach it. Where the path would be too long, the socket lies in the
// runtime directory, and the data directory holds a link to it. Close removes both.
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

// removeStale removes the socket that nobody answers on, or the link to it with what it led to.
func removeStale(place string) error {
	if target, err := os.Readlink(place); err == nil {
		os.Remove(target)
		os.Remove(filepath.Dir(target)) // no more than an empty directory
	}
	err := os.Remove(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

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

// linked is a listener whose socket lies in a directory of its own, with a link to it.
type linked struct {
	net.Listener
	link, dir string
}

func (l *linked) Close() error {
	return errors.Join(l.Listener.Close(), os.Remove(l.link), os.RemoveAll(l.dir))
}

// listenElsewhere puts the socket into a fresh directory that nobody else can enter.
func listenElsewhere(link string) (net.Listener, error) {
	dir, err := os.MkdirTemp(runtimeDir(), "imagegend-")
	if err != nil {
		return nil, fmt.Errorf("the admin socket finds no place: %w", err)
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

func runtimeDir() string {
	for _, name := range []string{"RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"} {
		if dir := os.Getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	return os.TempDir()
}

// socketPath is where the socket, or the link to it, lies. It is absolute and free of symbolic links,
// so that server and commands agree on its length wherever they run, and however they name the directory.
func socketPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil { // or it is not there yet
		abs = real
	}
	return filepath.Join(abs, socketName), nil
}

// resolve follows the link, where there is one.
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

// answers reports whether somebody listens there.
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
