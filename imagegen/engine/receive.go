package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/stream"
)

const (
	// maxImageBytes bounds the bytes that are read of one image of a provider.
	maxImageBytes = 256 << 20
	pieceSize     = 64 << 10
)

// memory bounds the bytes of images that are held in memory, in pieces of pieceSize. Images that
// wait to be decoded have one of their own, and those that wait to be stored another: so no image
// that is decoded waits for memory that others hold until they are decoded.
//
// When images that have come in part hold all of it, and the spool takes nothing, each would wait for
// the others. So there is a reserve, which one of them may have until it is discarded.
type memory struct {
	*semaphore.Weighted
	all     int64               // bytes, without the reserve
	each    int                 // bytes of one image while the spool takes more
	reserve *semaphore.Weighted // 1: it is free
}

// reserved is the bytes of the reserve.
const reserved = 16 << 20

func newUndecoded() memory { return newMemory(64<<20, 4<<20) }
func newUnstored() memory  { return newMemory(192<<20, 16<<20) }

func newMemory(all int64, each int) memory {
	return memory{semaphore.NewWeighted(all - reserved), all - reserved, each, semaphore.NewWeighted(1)}
}

// received is a complete image, in memory or in the spool. It is there until discard.
type received struct {
	engine *Engine
	memory memory
	parts  []part
	spills time.Time // when the spool is asked again after it took nothing
	last   bool      // it has the reserve
	beyond int       // how many of its pieces are in the reserve
	size   int64
	sha256 [sha256.Size]byte
}

// part is a part of an image: either in memory or in the spool.
type part struct {
	piece   *[pieceSize]byte
	length  int
	spooled imagegen.ReferenceID
}

// pieces spare the collector the memory of each image.
var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// receive reads an image to its end, so that a storage that fails costs nobody an image that was
// made, and a slow upstream holds neither the decoding budget nor an image file. Memory is taken
// piece by piece; when there is none, what has come goes into the spool, and when that takes
// nothing either, reading waits. *badImageError: from could not be read, or is too large.
// *spoolError: from is a partsReader, or reads from one. Any other error is that of ctx.
func (e *Engine) receive(ctx context.Context, from io.Reader, m memory) (_ *received, err error) {
	r, whole := &received{engine: e, memory: m}, false
	defer func() { // also when from panics
		if !whole {
			r.discard()
		}
	}()
	in := &stream.Meter{R: from, Most: maxImageBytes, Hash: sha256.New()}
	for !in.Ended {
		if !r.takeMemory(ctx) {
			return nil, context.Cause(ctx)
		}
		r.parts = append(r.parts, part{piece: pieces.Get().(*[pieceSize]byte)})
		if err := r.parts[len(r.parts)-1].readFrom(in); err != nil {
			if failed, ok := errors.AsType[*spoolError](err); ok {
				return nil, failed
			}
			return nil, &badImageError{err}
		}
	}
	r.size, r.sha256, whole = in.N, in.Sum(), true
	return r, nil
}

// takeMemory takes memory for one more piece. It returns false if ctx ends first.
func (r *received) takeMemory(ctx context.Context) bool {
	if len(r.inMemory())*pieceSize >= r.memory.each {
		r.spill(ctx)
	}
	for ctx.Err() == nil {
		if r.memory.TryAcquire(pieceSize) {
			return true
		}
		r.spill(ctx)
		if r.last = r.last || r.memory.reserve.TryAcquire(1); r.last && r.beyond < reserved/pieceSize {
			r.beyond++
			return true
		}
		within, cancel := context.WithTimeout(ctx, probeEvery) // by then the spool may take something
		err := r.memory.Acquire(within, pieceSize)
		cancel()
		if err == nil {
			return true
		}
	}
	return false
}

// readFrom reads until the piece is full or the image has ended.
func (p *part) readFrom(in *stream.Meter) error {
	for p.length < pieceSize && !in.Ended {
		n, err := in.Read(p.piece[p.length:])
		p.length += n
		if err != nil && !in.Ended {
			return err
		}
	}
	return nil
}

// inMemory returns the parts that are in memory: all that came since the last spill.
func (r *received) inMemory() []part {
	n := len(r.parts)
	for n > 0 && r.parts[n-1].piece != nil {
		n--
	}
	return r.parts[n:]
}

// spill moves what is in memory into the spool. If the spool takes nothing, it stays in memory,
// and the engine takes no more work.
func (r *received) spill(ctx context.Context) {
	e, held := r.engine, r.inMemory()
	if len(held) == 0 || time.Now().Before(r.spills) {
		return
	}
	id := e.ids.Reference(e.cfg.Now())
	if err := e.spool.Stage(ctx, id, &partsReader{ctx: ctx, parts: held}); err != nil {
		if !imagegen.Definite(err) {
			e.removeSpooled(id)
		}
		if ctx.Err() == nil {
			e.breaker.trip(e, err, int64(len(held)*pieceSize))
		}
		r.spills = time.Now().Add(probeEvery)
		return
	}
	r.release(held)
	r.parts = append(r.parts[:len(r.parts)-len(held)], part{spooled: id})
}

// makeRoom moves an image that is whole into the spool if less than half of the memory is free: it may wait long to be
// stored, and others could not even be received meanwhile.
func (r *received) makeRoom(ctx context.Context) {
	if half := r.memory.all / 2; r.memory.TryAcquire(half) {
		r.memory.Release(half)
		return
	}
	r.spill(ctx)
}

// release gives back the memory of pieces.
func (r *received) release(held []part) {
	for i := range held {
		pieces.Put(held[i].piece)
		held[i].piece = nil
	}
	r.memory.Release(int64(len(held)-r.beyond) * pieceSize)
	if r.last {
		r.memory.reserve.Release(1)
	}
	r.last, r.beyond = false, 0
}

// discard frees the memory and removes what is in the spool. It may be called again.
func (r *received) discard() {
	held := r.inMemory()
	r.release(held)
	var spooled []imagegen.ReferenceID
	for _, p := range r.parts[:len(r.parts)-len(held)] {
		spooled = append(spooled, p.spooled)
	}
	r.parts = nil
	if len(spooled) > 0 {
		r.engine.removeSpooled(spooled...)
	}
}

// newReader reads the image from its beginning. It may be called again.
func (r *received) newReader(ctx context.Context) *partsReader {
	return &partsReader{ctx: ctx, parts: r.parts, spool: r.engine.spool}
}

// spoolError says that a part of an image could not be read again. It is not the image's fault.
type spoolError struct{ err error }

func (e *spoolError) Error() string {
	return "imagegen: an image could not be read from the spool: " + e.err.Error()
}
func (e *spoolError) Unwrap() error { return e.err }

// partsReader reads the parts of an image one after the other, until ctx ends. Its error is a *spoolError.
type partsReader struct {
	ctx   context.Context
	parts []part
	at    int           // in the piece at the beginning of parts
	file  io.ReadCloser // the spooled part at the beginning of parts; nil: not open
	spool imagegen.Spool

	failed *spoolError // what reading has ended with
}

// unusable is the error of whatever could not use the image that was read: the reader's, which decoders may take for
// the end of the image, or else a *badImageError.
func (r *partsReader) unusable(err error) error {
	if r.failed != nil {
		return r.failed
	}
	return &badImageError{err}
}

// Read implements [io.Reader].
func (r *partsReader) Read(p []byte) (int, error) {
	for len(r.parts) > 0 {
		if r.ctx.Err() != nil {
			return 0, r.fail(context.Cause(r.ctx))
		}
		n, err := r.readPart(p)
		if err == io.EOF {
			_ = r.Close()
			r.parts, r.at, err = r.parts[1:], 0, nil
		}
		if err != nil {
			err = r.fail(err)
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
	return 0, io.EOF
}

func (r *partsReader) fail(err error) error {
	r.failed = &spoolError{err}
	return r.failed
}

// readPart reads from the part at the beginning.
func (r *partsReader) readPart(p []byte) (int, error) {
	first := &r.parts[0]
	if first.piece != nil {
		n := copy(p, first.piece[r.at:first.length])
		if r.at += n; r.at == first.length {
			return n, io.EOF
		}
		return n, nil
	}
	if r.file == nil {
		var err error
		if r.file, err = r.spool.Open(r.ctx, first.spooled); err != nil {
			return 0, err
		}
	}
	return r.file.Read(p)
}

// Close implements [io.Closer].
func (r *partsReader) Close() (err error) {
	if r.file != nil {
		err, r.file = r.file.Close(), nil
	}
	return err
}
