package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// upload is a local file that is complete.
type upload struct {
	file *os.File
	size int64
	md5  string // in base64
}

// contentType is that of all objects: what an image is, its record says.
const contentType = "application/octet-stream"

// put makes an object of a file, in one request. The client repeats it where that may help, and reads the file from its
// beginning again. It may take as long as bytes move. The object store refuses bytes of another MD5.
func (o *objects) put(ctx context.Context, key string, u upload) error {
	ctx, watch := watched(ctx, o.timeout)
	defer watch.stop()
	_, err := o.client.read(ctx, call{method: http.MethodPut, key: o.prefix + key,
		header: map[string]string{"Content-MD5": u.md5, "Content-Type": contentType},
		body:   func() io.Reader { return watch.section(u.file, u.size) }, size: u.size}, nil)
	return understood("put "+key, err)
}

// remove removes an object. It succeeds if there is none.
func (o *objects) remove(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	_, err := o.client.read(ctx, call{method: http.MethodDelete, key: o.prefix + key}, nil)
	return understood("remove "+key, err)
}

// object reads an object as it was when it was opened, from anywhere in it. Reading on takes no request; reading
// somewhere else takes one, which asks for the same ETag, so that it never yields bytes of two objects. It is for one
// goroutine.
type object struct {
	o       *objects
	key     string
	etag    string
	size    int64
	at      int64           // where the next Read begins
	body    io.ReadCloser   // of the last answer; nil: none is open
	bodyAt  int64           // where body is
	watch   *watchdog       // of body; it ends the request if nothing moves
	context context.Context // of all requests: the opener's, without its end
}

// openObject asks for an object and keeps the answer open, to be read. ctx counts only until open returns: a reader
// often outlives the call that opened it. imagegen.ErrNotFound.
func (o *objects) openObject(ctx context.Context, key string) (io.ReadSeekCloser, error) {
	r := &object{o: o, key: key, context: context.WithoutCancel(ctx)}
	got, err := r.get(ctx, nil)
	if err != nil {
		return nil, err
	}
	r.etag, r.size = got.Header.Get("ETag"), got.ContentLength
	return r, nil
}

// opens returns why an object cannot be opened; nil: it can. imagegen.ErrNotFound.
func (o *objects) opens(ctx context.Context, key string) error {
	r, err := o.openObject(ctx, key)
	if err != nil {
		return err
	}
	return r.Close()
}

// get sends a request for bytes from r.at on, and makes its answer the body. caller can end the wait for the answer and
// nothing after it. If it does so just as the answer comes, the answer is closed, and the caller's reason is the error.
func (r *object) get(caller context.Context, header map[string]string) (*http.Response, error) {
	ctx, watch := watched(r.context, r.o.timeout)
	unhook := context.AfterFunc(caller, watch.stop)
	got, err := r.o.client.do(ctx, call{method: http.MethodGet, key: r.o.prefix + r.key, header: header})
	if !unhook() && err == nil {
		err = errors.Join(context.Cause(caller), got.Body.Close())
	}
	if err != nil {
		watch.stop()
		return nil, unread(caller, "get "+r.key, err)
	}
	watch.rest()
	r.body, r.bodyAt, r.watch = got.Body, r.at, watch
	return got, nil
}

// Read implements [io.Reader]. An answer that ends before the object does is an io.ErrUnexpectedEOF. Only reads are
// watched: the caller may take its time in between, as a restore does that flushes a large file to a slow disk.
func (r *object) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if r.body == nil || r.bodyAt != r.at {
		if err := r.reopen(); err != nil {
			return 0, err
		}
	}
	r.watch.moved()
	n, err := r.body.Read(p)
	r.watch.rest()
	r.at += int64(n)
	r.bodyAt = r.at
	if err == io.EOF && r.at < r.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// reopen asks for the rest of the object from r.at on. If the object was replaced the request is refused, and there is
// no way to read on.
func (r *object) reopen() error {
	if err := r.Close(); err != nil {
		return err
	}
	_, err := r.get(r.context, map[string]string{"Range": fmt.Sprintf("bytes=%d-", r.at), "If-Match": r.etag})
	return err
}

// Seek implements [io.Seeker]. It sends no request; the next Read does, if it has to. A position behind the end is one
// at which Read returns io.EOF.
func (r *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("s3: the position is before the beginning of the object")
	}
	r.at = offset
	return offset, nil
}

// Close implements [io.Closer]. It may be called again.
func (r *object) Close() error {
	if r.body == nil {
		return nil
	}
	err := r.body.Close()
	r.body = nil
	r.watch.stop()
	return err
}

// watchdog ends a request in which nothing has moved for limit. It must be stopped, which ends the request's context
// and frees the timer.
type watchdog struct {
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

var errSilent = errors.New("the object store was silent for too long")

// watched returns a context for one request, and the watchdog that ends it. The time runs from now on.
func watched(ctx context.Context, limit time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watchdog{limit, time.AfterFunc(limit, func() { cancel(errSilent) }), cancel}
}

// moved gives the request another stretch of limit.
func (w *watchdog) moved() { w.timer.Reset(w.limit) }

// rest stops the time until something moves again.
func (w *watchdog) rest() { w.timer.Stop() }

// stop ends the request, if it still runs. It may be called again.
func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// section reads size bytes of a file from its beginning, whatever the file's offset, and tells the watchdog of each
// read. The client reads a body as the network takes it, so a network that takes nothing is noticed.
func (w *watchdog) section(f io.ReaderAt, size int64) io.Reader {
	return &watchedSection{io.NewSectionReader(f, 0, size), w}
}

// watchedSection is a part of a file that is sent, see watchdog.section.
type watchedSection struct {
	io.Reader
	watch *watchdog
}

func (s *watchedSection) Read(p []byte) (int, error) {
	s.watch.moved()
	return s.Reader.Read(p)
}
