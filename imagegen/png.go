package imagegen

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"
)

// wholePNG reports whether r is a plain PNG that is whole: every checksum right, and as many pixels
// as its header says. It makes no picture, so that it takes a few KiB whatever the image's size, and
// no longer than inflating takes. What it does not know (a palette, transparency by colour,
// interlacing) or finds wrong is for the decoder to judge.
func wholePNG(r io.Reader) (bool, error) {
	c := pngChecks.Get().(*pngCheck)
	defer c.put()
	return c.begin(r) == nil && c.rest() == nil, nil
}

// plainPNG reports whether r begins as a PNG that wholePNG knows.
func plainPNG(r io.Reader) (bool, error) {
	c := pngChecks.Get().(*pngCheck)
	defer c.put()
	return c.begin(r) == nil, nil
}

var pngChecks = sync.Pool{New: func() any { return new(pngCheck) }}

func (c *pngCheck) put() {
	c.in.Reset(nil) // the pool holds on to no image
	pngChecks.Put(c)
}

var errNotPlain = errors.New("no plain PNG")

// pngCheck reads the chunks of a PNG. It is itself the reader of what the IDAT chunks hold.
type pngCheck struct {
	in, data bufio.Reader
	zlib     io.ReadCloser
	row      [32 << 10]byte

	rows, length int64 // what the pixels inflate to: so many rows of so many bytes

	kind [4]byte // of the current chunk
	left uint32  // bytes of it that were not read yet
	crc  uint32  // of what was
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// begin reads the signature and IHDR.
func (c *pngCheck) begin(r io.Reader) error {
	c.in.Reset(r)
	var signature [len(pngSignature)]byte
	if _, err := io.ReadFull(&c.in, signature[:]); err != nil || string(signature[:]) != pngSignature {
		return errNotPlain
	}
	return c.header()
}

// rest reads what follows.
func (c *pngCheck) rest() (err error) {
	for err == nil && string(c.kind[:]) != "IDAT" {
		err = c.skip()
	}
	if err == nil {
		err = c.pixels()
	}
	for err == nil && string(c.kind[:]) != "IEND" {
		err = c.skip()
	}
	if err != nil || c.left != 0 {
		return errNotPlain
	}
	return c.close()
}

// header reads IHDR and begins the next chunk.
func (c *pngCheck) header() error {
	var b [13]byte
	if err := c.next(); err != nil || string(c.kind[:]) != "IHDR" || int(c.left) != len(b) {
		return errNotPlain
	}
	if _, err := io.ReadFull(c.chunk(), b[:]); err != nil {
		return err
	}
	width, height := binary.BigEndian.Uint32(b[0:]), binary.BigEndian.Uint32(b[4:])
	samples := map[byte]int64{0: 1, 2: 3, 4: 2, 6: 4}[b[9]] // by colour type
	depth := int64(b[8])
	interlaced := b[12] != 0
	if samples == 0 || depth != 8 && depth != 16 || b[10] != 0 || b[11] != 0 || interlaced ||
		width == 0 || height == 0 || width > 1<<20 || height > 1<<20 {
		return errNotPlain
	}
	c.rows, c.length = int64(height), 1+int64(width)*samples*depth/8
	return c.following()
}

// pixels inflates the rows and looks at nothing but the filter that each begins with.
func (c *pngCheck) pixels() error {
	c.data.Reset(idat{c})
	if err := c.inflate(); err != nil {
		return err
	}
	for range c.rows {
		for at := int64(0); at < c.length; {
			part := c.row[:min(int64(len(c.row)), c.length-at)]
			if _, err := io.ReadFull(c.zlib, part); err != nil {
				return err
			}
			const filters = 5
			if at == 0 && part[0] >= filters {
				return errNotPlain
			}
			at += int64(len(part))
		}
	}
	if n, err := c.zlib.Read(c.row[:1]); n != 0 || err != io.EOF { // which verifies the checksum
		return errNotPlain
	}
	if n, err := c.data.Read(c.row[:1]); n != 0 || err != io.EOF { // bytes behind the last pixel
		return errNotPlain
	}
	return nil
}

func (c *pngCheck) inflate() (err error) {
	if c.zlib == nil {
		c.zlib, err = zlib.NewReader(&c.data)
		return err
	}
	return c.zlib.(zlib.Resetter).Reset(&c.data, nil)
}

// next reads the head of a chunk.
func (c *pngCheck) next() error {
	var b [8]byte
	if _, err := io.ReadFull(&c.in, b[:]); err != nil {
		return err
	}
	c.left, c.kind = binary.BigEndian.Uint32(b[:]), [4]byte(b[4:])
	c.crc = crc32.ChecksumIEEE(b[4:])
	return nil
}

// chunk is what the current chunk holds.
func (c *pngCheck) chunk() io.Reader { return (*pngChunk)(c) }

// close reads the checksum behind a chunk.
func (c *pngCheck) close() error {
	var b [4]byte
	if _, err := io.ReadFull(&c.in, b[:]); err != nil || binary.BigEndian.Uint32(b[:]) != c.crc {
		return errNotPlain
	}
	return nil
}

// following ends a chunk that was read and begins the next.
func (c *pngCheck) following() error {
	if err := c.close(); err != nil {
		return err
	}
	return c.next()
}

// skip passes over a chunk that says nothing of the pixels.
func (c *pngCheck) skip() error {
	const ancillary = 0x20
	if c.kind[0]&ancillary == 0 || string(c.kind[:]) == "tRNS" {
		return errNotPlain
	}
	if _, err := io.Copy(io.Discard, c.chunk()); err != nil || c.left != 0 {
		return errNotPlain
	}
	return c.following()
}

// pngChunk reads what is left of the current chunk.
type pngChunk pngCheck

func (c *pngChunk) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n, err := c.in.Read(p[:min(uint32(len(p)), c.left)])
	c.left -= uint32(n)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p[:n])
	return n, err
}

// idat reads what successive IDAT chunks hold; at its end, the chunk behind them has begun.
type idat struct{ *pngCheck }

func (d idat) Read(p []byte) (int, error) {
	for string(d.kind[:]) == "IDAT" && d.left == 0 {
		if err := d.following(); err != nil {
			return 0, err
		}
	}
	if string(d.kind[:]) != "IDAT" {
		return 0, io.EOF
	}
	return d.chunk().Read(p)
}
