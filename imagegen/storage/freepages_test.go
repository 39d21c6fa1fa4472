package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
)

// listOfFree is a file whose page 3 lists these free pages, with its first page.
func listOfFree(pageSize int, free []uint64) (file, first []byte) {
	list := make([]byte, pageHeader)
	binary.NativeEndian.PutUint64(list, 3)
	binary.NativeEndian.PutUint16(list[8:], freelistFlag)
	if count := len(free); count < countFollows {
		binary.NativeEndian.PutUint16(list[10:], uint16(count))
	} else {
		binary.NativeEndian.PutUint16(list[10:], countFollows)
		list = binary.NativeEndian.AppendUint64(list, uint64(count))
	}
	for _, n := range free {
		list = binary.NativeEndian.AppendUint64(list, n)
	}
	first = make([]byte, pageSize)
	binary.NativeEndian.PutUint64(first[metaFreelist:], 3)
	return slices.Concat(first, make([]byte, 2*pageSize), list, make([]byte, pageSize)), first
}

// The list is read however long it is; more pages than a page can count have their number in front.
func TestFreePages(t *testing.T) {
	for _, n := range []int{0, 1, countFollows - 1, countFollows, 100_000} {
		is := is.New(t)
		want := make([]uint64, n)
		for i := range want {
			want[i] = uint64(4 + 2*i)
		}
		file, first := listOfFree(512, want)
		got, err := freePages(bytes.NewReader(file), first, 512)
		is.NoErr(err)
		is.Equal(cmp.Diff(want, got), "")
		_, err = freePages(bytes.NewReader(file[:3*512+pageHeader+4]), first, 512)
		is.True(err != nil) // it is cut off
		file[3*512+8]++
		_, err = freePages(bytes.NewReader(file), first, 512)
		is.True(errors.Is(err, ErrCorrupt))
	}
}

// Whatever the pieces are in which a file is written, its free pages are zeros.
func TestZeroFreePages(t *testing.T) {
	is := is.New(t)
	const pageSize, pages = 128, 12
	file, first := listOfFree(pageSize, []uint64{4, 5, 8, 11})
	whole := append(bytes.Clone(first), bytes.Repeat([]byte{1}, (pages-1)*pageSize)...)
	want := bytes.Clone(whole)
	for _, n := range []int{4, 5, 8, 11} {
		clear(want[n*pageSize : (n+1)*pageSize])
	}
	for size := 1; size <= len(whole); size++ {
		var to bytes.Buffer
		b := &zeroFreePages{w: &to, file: bytes.NewReader(file), pageSize: pageSize}
		_, err := b.Write(first)
		is.NoErr(err)
		for rest := whole[pageSize:]; len(rest) > 0; {
			n, err := b.Write(rest[:min(size, len(rest))])
			is.NoErr(err)
			rest = rest[n:]
		}
		is.True(bytes.Equal(to.Bytes(), want))
	}
}
