package storage

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"go.etcd.io/bbolt"
)

// walkPages follows the tree of pages from its root and returns what would lead bbolt's own check astray: a page that is
// used twice, does not exist or is none of a tree. On such a file that check may go round for ever and take all memory.
// An *fs.PathError: the file cannot be read, which says nothing about its pages.
//
// The layout is that of bbolt: internal/common/page.go, bucket.go.
func walkPages(t *bbolt.Tx) error {
	f, err := os.Open(t.DB().Path())
	if err != nil {
		return err
	}
	defer f.Close()
	size := int64(t.DB().Info().PageSize)
	w := &pageWalk{file: f, size: size, seen: make([]bool, t.Size()/size)}
	return w.page(uint64(t.Cursor().Bucket().Root()), 0)
}

type pageWalk struct {
	file io.ReaderAt
	size int64
	seen []bool // by page: it belongs to the tree
}

// An element of a page is described in 16 bytes behind the page's header, for which see freepages.go.
const (
	pageElement = 16 // of a branch: position 4, key 4, child 8; of a leaf: flags 4, position 4, key 4, value 4
	branchPage  = 0x01
	leafPage    = 0x02
	bucketEntry = 0x01
	deepest     = 64 // levels; a tree of 2^64 keys has fewer
)

// page follows one page and all below it.
func (w *pageWalk) page(id uint64, depth int) error {
	if id < 2 || id >= uint64(len(w.seen)) {
		return fmt.Errorf("page %d is named, and the file has pages 2 to %d", id, len(w.seen)-1)
	}
	if w.seen[id] {
		return fmt.Errorf("page %d is used twice", id)
	}
	if depth > deepest {
		return fmt.Errorf("page %d lies deeper than any tree is", id)
	}
	w.seen[id] = true
	head, err := w.read(id, 0, pageHeader)
	if err != nil {
		return err
	}
	flags, count := binary.NativeEndian.Uint16(head[8:]), int64(binary.NativeEndian.Uint16(head[10:]))
	whole := (int64(binary.NativeEndian.Uint32(head[12:])) + 1) * w.size
	if pageHeader+count*pageElement > whole || int64(id)*w.size+whole > int64(len(w.seen))*w.size {
		return fmt.Errorf("page %d is longer than the file has room for", id)
	}
	elements, err := w.read(id, pageHeader, count*pageElement)
	if err != nil {
		return err
	}
	for i := int64(0); i < count; i++ {
		e := elements[i*pageElement:]
		switch {
		case flags == branchPage:
			err = w.page(binary.NativeEndian.Uint64(e[8:]), depth+1)
		case flags != leafPage:
			return fmt.Errorf("page %d is none of a tree", id)
		case binary.NativeEndian.Uint32(e)&bucketEntry != 0:
			at := pageHeader + i*pageElement + int64(binary.NativeEndian.Uint32(e[4:])) + int64(binary.NativeEndian.Uint32(e[8:]))
			err = w.bucket(id, at, whole, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket follows a bucket whose value is at an offset of a page. A small one has no page of its own.
func (w *pageWalk) bucket(id uint64, at, whole int64, depth int) error {
	if at+8 > whole {
		return fmt.Errorf("page %d names a value behind its end", id)
	}
	root, err := w.read(id, at, 8)
	if err != nil || binary.NativeEndian.Uint64(root) == 0 {
		return err
	}
	return w.page(binary.NativeEndian.Uint64(root), depth+1)
}

func (w *pageWalk) read(id uint64, at, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := w.file.ReadAt(b, int64(id)*w.size+at)
	return b, err
}
