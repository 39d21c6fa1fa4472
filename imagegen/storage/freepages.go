package storage

import (
	"encoding/binary"
	"fmt"
	"io"
)

// zeroFreePages passes on a database file as bbolt writes it, from its beginning, with zeros in place of the
// free pages. Those keep what was erased until they are used again, and a backup must not contain it.
type zeroFreePages struct {
	w        io.Writer
	file     io.ReaderAt // the live database, which has the list of free pages
	pageSize int64
	at       int64    // how many bytes were passed on
	free     []uint64 // numbers of the free pages that end behind at, ascending
}

// Write implements io.Writer. It expects the first page in one piece, as bbolt writes it: that page tells where
// the list of free pages is.
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

// next returns the longest beginning of p that is either kept as a whole or zeroed as a whole.
func (b *zeroFreePages) next(p []byte) (part []byte, keep bool) {
	for len(b.free) > 0 && b.startOfPage(1) <= b.at {
		b.free = b.free[1:]
	}
	switch {
	case len(b.free) == 0:
		return p, true
	case b.at < b.startOfPage(0):
		return p[:min(int64(len(p)), b.startOfPage(0)-b.at)], true
	}
	return p[:min(int64(len(p)), b.startOfPage(1)-b.at)], false
}

// startOfPage is where in the file the next free page begins (after 0) or ends (after 1).
func (b *zeroFreePages) startOfPage(after int64) int64 {
	return (int64(b.free[0]) + after) * b.pageSize
}

// The parts of bbolt's file format, version 2, that describe free pages. A page begins with its number
// (8 bytes), flags (2), a count (2) and the number of further pages that belong to it (4). The first page
// of the file has the number of the freelist's page at metaFreelist. The freelist's page has, after its
// header, the numbers of the free pages, 8 bytes each. Their count is the one in the header, unless that
// is countFollows: then 8 bytes with the count precede the numbers. All integers are in native byte order.
const (
	pageHeader   = 16
	metaFreelist = pageHeader + 32
	freelistFlag = 0x10
	countFollows = 0xFFFF
	maxFreePages = 1 << 40 / 4096 // those of a terabyte; a higher count is damage, and would take too much memory
)

// freePages reads which pages a snapshot does not use, in ascending order. first is the snapshot's first
// page. The list can be read from the live file, since its page is reused only after the snapshot is closed.
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
		return nil, fmt.Errorf("%w: page %d is not a list of free pages", ErrCorrupt, number)
	}
	free := make([]uint64, count)
	if err := binary.Read(io.NewSectionReader(file, at, int64(count)*8), binary.NativeEndian, free); err != nil {
		return nil, fmt.Errorf("storage: the list of free pages cannot be read: %w", err)
	}
	return free, nil
}
