package imagegen

import (
	"crypto/sha256"
	"hash"
)

// digest is the SHA-256 of what is written to it. Another goroutine hashes, so that whoever reads a
// long body goes on reading meanwhile; what fits into one chunk is hashed at the end. It ends with
// sum, which must be called, also when something failed; nothing may be written behind that.
type digest struct {
	hash  hash.Hash
	part  *chunk // that is being filled; nil: none is
	parts chan *chunk
	ended chan struct{}
}

func newDigest() *digest { return &digest{hash: sha256.New()} }

func (d *digest) write(p []byte) {
	for len(p) > 0 {
		if d.part == nil {
			d.part = freeChunks.Get().(*chunk)
			d.part.n = 0
		}
		n := copy(d.part.bytes[d.part.n:], p)
		d.part.n += n
		p = p[n:]
		if d.part.n == chunkSize {
			d.pass()
		}
	}
}

// pass hands a full chunk over.
func (d *digest) pass() {
	if d.parts == nil {
		d.parts, d.ended = make(chan *chunk, 4), make(chan struct{})
		go d.run()
	}
	d.parts <- d.part
	d.part = nil
}

func (d *digest) run() {
	defer close(d.ended)
	for part := range d.parts {
		d.add(part)
	}
}

func (d *digest) add(part *chunk) {
	d.hash.Write(part.bytes[:part.n])
	freeChunks.Put(part)
}

// sum ends the digest and returns it, also when it is called again.
func (d *digest) sum() [sha256.Size]byte {
	if d.parts != nil {
		close(d.parts)
		<-d.ended
		d.parts = nil
	}
	if d.part != nil {
		d.add(d.part)
		d.part = nil
	}
	return [sha256.Size]byte(d.hash.Sum(nil))
}
