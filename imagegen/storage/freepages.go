package storage

import (
	"encoding/binary"
	"fmt"
	"io"
)

// zeroFreePages passes on a database file as bbolt writes it, from its beginning, with zeros in the place of
// free pages: what was erased lies there until they are used again, and is no business of a backup's.
type zeroFreePages struct {
	w        io.Writer
	file     io.ReaderAt // that the snapshot is of
	pageSize int64
	at       int64
	free     []uint64 // pages from at on, ascending
}

// Write implements io.Writer. The first page comes in one piece.
func (b *zeroFreePages) Write(p []byte) (n int, err error) {
	if b.at == 0 {
		if b.free, err = freePages(b.file, p, b.pageSize); err != nil {
			return 0, err
		}
	}
	for len(p) > 0 && err == nil {
		part, keep := b.next(p)
		if !keep {
			part = make([]byte, len(part))
		}
		var written int
		written, err = b.w.Write(part)
		n, b.at, p = n+written, b.at+int64(written), p[written:]
	}
	return n, err
}

// next is the beginning of p that is kept, or zeroed, as one.
func (b *zeroFreePages) next(p []byte) (part []byte, keep bool) {
	for len(b.free) > 0 && b.begin(1) <= b.at {
		b.free = b.free[1:]
	}
	switch {
	case len(b.free) == 0:
		return p, true
	case b.at < b.begin(0):
		return p[:min(int64(len(p)), b.begin(0)-b.at)], true
	}
	return p[:min(int64(len(p)), b.begin(1)-b.at)], false
}

// begin is where the next free page begins, or ends.
func (b *zeroFreePages) begin(after int64) int64 { return (int64(b.free[0]) + after) * b.pageSize }

// The parts of bbolt's file format, version 2, that tell of free pages. A page begins with its number
// (8 bytes), flags (2), a count (2) and how many pages follow that belong to it (4). Behind that, the
// first page has the number of the freelist's page at metaFreelist; and that page the numbers of the
// free pages, 8 bytes each, which the first of them counts if the count is countFollows.
const (
	pageHeader   = 16
	metaFreelist = pageHeader + 32
	freelistFlag = 0x10
	countFollows = 0xFFFF
	maxFreePages = 1 << 40 / 4096 // of a terabyte
)

// freePages reads which pages a snapshot does not use, in order. first is its first page. The page that
// lists them is used again only when the snapshot has been closed.
func freePages(file io.ReaderAt, first []byte, pageSize int64) ([]uint64, error) {
	number := binary.NativeEndian.Uint64(first[metaFreelist:])
	header := make([]byte, pageHeader+8)
	at := int64(number) * pageSize
	if _, err := file.ReadAt(header, at); err != nil {
		return nil, fmt.Errorf("storage: the list of free pages cannot be read: %w", err)
	}
	flags, count := binary.NativeEndian.Uint16(header[8:]), uint64(binary.NativeEndian.Uint16(header[10:]))
	at += pageHeader
	if count == countFollows {
		count = binary.NativeEndian.Uint64(header[pageHeader:])
		at += 8
	}
	if binary.NativeEndian.Uint64(header) != number || flags != freelistFlag || count > maxFreePages {
		return nil, fmt.Errorf("%w: page %d is no list of free pages", ErrCorrupt, number)
	}
	free := make([]uint64, count)
	if err := binary.Read(io.NewSectionReader(file, at, int64(count)*8), binary.NativeEndian, free); err != nil {
		return nil, fmt.Errorf("storage: the list of free pages cannot be read: %w", err)
	}
	return free, nil
}
