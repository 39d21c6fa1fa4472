package disk_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// device is a file that is a disk: it is there for a loop device, and puts on tape what that writes
// and flushes.
type device struct {
	fs.Inode
	mu   sync.Mutex
	data []byte
	tape tape
	fail failure
}

// failure is an operation that fails, once: the nth write, or the nth flush.
type failure struct {
	kind kind
	nth  int // 0: none does
}

// strikes counts an operation, and reports whether it fails.
func (f *failure) strikes(k kind) bool {
	if k != f.kind || f.nth == 0 {
		return false
	}
	f.nth--
	return f.nth == 0
}

func (f failure) args() []string { return []string{strconv.Itoa(int(f.kind)), strconv.Itoa(f.nth)} }

func parseFailure(args []string) (failure, error) {
	of, err := strconv.Atoi(args[0])
	nth, wrong := strconv.Atoi(args[1])
	return failure{kind(of), nth}, errors.Join(err, wrong)
}

var (
	_ fs.NodeOpener    = (*device)(nil)
	_ fs.NodeGetattrer = (*device)(nil)
	_ fs.NodeSetattrer = (*device)(nil)
	_ fs.NodeReader    = (*device)(nil)
	_ fs.NodeWriter    = (*device)(nil)
	_ fs.NodeFsyncer   = (*device)(nil)
)

const deviceName = "device"

// serveDevice serves, under a mount point, a device that begins as an image.
func serveDevice(args []string) error {
	mountPoint, image, tapePath := args[0], args[1], args[2]
	d := &device{}
	var err error
	if d.data, err = os.ReadFile(image); err != nil {
		return err
	}
	if d.tape, err = openTape(tapePath); err != nil {
		return err
	}
	if d.fail, err = parseFailure(args[3:]); err != nil {
		return err
	}
	root := &fs.Inode{}
	return serveMount(mountPoint, root, func(ctx context.Context) {
		root.AddChild(deviceName, root.NewPersistentInode(ctx, d, fs.StableAttr{Mode: syscall.S_IFREG}), false)
	})
}

// serveMount mounts a filesystem, says that it is there, and serves it until it is unmounted.
func serveMount(mountPoint string, root fs.InodeEmbedder, onAdd func(context.Context)) error {
	options := &fs.Options{OnAdd: onAdd, MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: namePrefix,
		DisableXAttrs:        true,
		DisabledCapabilities: fuse.CAP_PASSTHROUGH}} // else the kernel would write past us
	server, err := fs.Mount(mountPoint, root, options)
	if err != nil {
		return err
	}
	fmt.Print(ready)
	server.Wait()
	return nil
}

// Open has every write passed on as it is made.
func (d *device) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

func (d *device) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size, out.Blksize = 0o600, uint64(len(d.data)), 4096
	return 0
}

// Setattr receives times, which nobody needs.
func (d *device) Setattr(ctx context.Context, f fs.FileHandle, _ *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return d.Getattr(ctx, f, out)
}

func (d *device) Read(_ context.Context, _ fs.FileHandle, to []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fuse.ReadResultData(to[:copy(to, d.data[offset:])]), 0
}

func (d *device) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if offset+int64(len(data)) > int64(len(d.data)) {
		return 0, syscall.ENOSPC
	}
	if err := d.note(written, offset, data); err != nil {
		return 0, syscall.EIO
	}
	return uint32(copy(d.data[offset:], data)), 0
}

func (d *device) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.note(flushed, 0, nil); err != nil {
		return syscall.EIO
	}
	return 0
}

// note puts an operation on tape, unless it is the one that fails.
func (d *device) note(k kind, offset int64, data []byte) error {
	if d.fail.strikes(k) {
		return errors.Join(d.tape.add(broken, 0, nil), syscall.EIO)
	}
	return d.tape.add(k, offset, data)
}
