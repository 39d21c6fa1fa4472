package disk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// trial is a directory in which one operation fails. Its name says which, so that the process
// that serves the filesystem need not know.
type trial struct {
	errno   syscall.Errno
	lasting bool // all that follow fail, too
	nth     int
}

var errnoNames = map[syscall.Errno]string{syscall.EIO: "EIO", syscall.ENOSPC: "ENOSPC"}

func (t trial) String() string {
	how := "once"
	if t.lasting {
		how = "lasting"
	}
	return fmt.Sprintf("%s-%s-%d", errnoNames[t.errno], how, t.nth)
}

// hits reports whether the nth operation fails.
func (t trial) hits(nth int) bool { return nth == t.nth || nth > t.nth && t.lasting }

func parseTrial(name string) (t trial, ok bool) {
	var errno, how string
	if _, err := fmt.Sscanf(strings.ReplaceAll(name, "-", " "), "%s %s %d", &errno, &how, &t.nth); err != nil {
		return t, false
	}
	t.lasting = how == "lasting"
	for t.errno = range errnoNames {
		if errnoNames[t.errno] == errno {
			return t, true
		}
	}
	return t, false
}

// fault is the first operation of a trial that was made to fail.
type fault struct {
	Op, File string // below the trial's directory
	Offset   int64  // of a write
}

// faults are those of all trials.
type faults struct {
	mu    sync.Mutex
	count map[string]int
	notes string // directory where the faults are written down
}

// strike counts an operation and returns the error with which it fails, or 0.
func (f *faults) strike(op, path string, offset int64) syscall.Errno {
	name, file, _ := strings.Cut(path, "/")
	t, ok := parseTrial(name)
	if !ok {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count[name]++
	n := f.count[name]
	if !t.hits(n) {
		return 0
	}
	if n == t.nth {
		if err := f.note(name, fault{op, file, offset}); err != nil {
			panic(err)
		}
	}
	return t.errno
}

func (f *faults) note(name string, what fault) error {
	b, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.notes, name), b, 0o600)
}

// serveFaults serves a directory under a mount point, with faults in the directories of trials.
func serveFaults(args []string) error {
	mountPoint, backing, notes := args[0], args[1], args[2]
	root, err := fs.NewLoopbackRoot(backing)
	if err != nil {
		return err
	}
	f := &faults{count: map[string]int{}, notes: notes}
	return serveMount(mountPoint, &faulty{root.(*fs.LoopbackNode), f}, nil)
}

// faulty is a file or a directory on a disk with faults. Whatever changes the disk can fail.
type faulty struct {
	*fs.LoopbackNode
	faults *faults
}

var (
	_ fs.NodeWrapChilder    = (*faulty)(nil)
	_ fs.NodeCreater        = (*faulty)(nil)
	_ fs.NodeMkdirer        = (*faulty)(nil)
	_ fs.NodeLinker         = (*faulty)(nil)
	_ fs.NodeRenamer        = (*faulty)(nil)
	_ fs.NodeUnlinker       = (*faulty)(nil)
	_ fs.NodeWriter         = (*faulty)(nil)
	_ fs.NodeFsyncer        = (*faulty)(nil)
	_ fs.NodeSetattrer      = (*faulty)(nil)
	_ fs.NodeAllocater      = (*faulty)(nil)
	_ fs.NodeOpendirHandler = (*faulty)(nil)
)

func (n *faulty) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	return &faulty{child.(*fs.LoopbackNode), n.faults}
}

func (n *faulty) strike(op string, name ...string) syscall.Errno {
	return n.faults.strike(op, filepath.Join(append([]string{n.Path(nil)}, name...)...), 0)
}

func (n *faulty) Create(ctx context.Context, name string, flags, mode uint32,
	out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if errno := n.strike("create", name); errno != 0 {
		return nil, nil, 0, errno
	}
	return n.LoopbackNode.Create(ctx, name, flags, mode, out)
}

func (n *faulty) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.strike("mkdir", name); errno != 0 {
		return nil, errno
	}
	return n.LoopbackNode.Mkdir(ctx, name, mode, out)
}

func (n *faulty) Link(ctx context.Context, target fs.InodeEmbedder, name string,
	out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.strike("link", name); errno != 0 {
		return nil, errno
	}
	return n.LoopbackNode.Link(ctx, target, name, out)
}

func (n *faulty) Rename(ctx context.Context, name string, to fs.InodeEmbedder, newName string,
	flags uint32) syscall.Errno {
	if errno := n.strike("rename", name); errno != 0 {
		return errno
	}
	return n.LoopbackNode.Rename(ctx, name, to, newName, flags)
}

func (n *faulty) Unlink(ctx context.Context, name string) syscall.Errno {
	if errno := n.strike("unlink", name); errno != 0 {
		return errno
	}
	return n.LoopbackNode.Unlink(ctx, name)
}

func (n *faulty) Write(ctx context.Context, f fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	if errno := n.faults.strike("write", n.Path(nil), offset); errno != 0 {
		return 0, errno
	}
	return f.(fs.FileWriter).Write(ctx, data, offset)
}

func (n *faulty) Fsync(ctx context.Context, f fs.FileHandle, flags uint32) syscall.Errno {
	if errno := n.strike("fsync"); errno != 0 {
		return errno
	}
	return f.(fs.FileFsyncer).Fsync(ctx, flags)
}

func (n *faulty) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if _, resized := in.GetSize(); resized {
		if errno := n.strike("truncate"); errno != 0 {
			return errno
		}
	}
	return n.LoopbackNode.Setattr(ctx, f, in, out)
}

// Allocate only makes the file as long: all trials together would fill the memory.
func (n *faulty) Allocate(ctx context.Context, f fs.FileHandle, offset, size uint64, _ uint32) syscall.Errno {
	if errno := n.strike("allocate"); errno != 0 {
		return errno
	}
	in, out := &fuse.SetAttrIn{}, &fuse.AttrOut{}
	in.Valid, in.Size = fuse.FATTR_SIZE, offset+size
	return n.LoopbackNode.Setattr(ctx, f, in, out)
}

func (n *faulty) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	f, fuseFlags, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return listing{f.(directory), n}, fuseFlags, 0
}

// directory is what an open directory can do.
type directory interface {
	fs.FileReaddirenter
	fs.FileSeekdirer
	fs.FileReleasedirer
	fs.FileFsyncdirer
}

// listing is an open directory whose flush can fail.
type listing struct {
	directory
	node *faulty
}

func (l listing) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	if errno := l.node.strike("fsync"); errno != 0 {
		return errno
	}
	return l.directory.Fsyncdir(ctx, flags)
}
