package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// OpenImage implements [imagegen.Service]. The bytes are fetched while they are read; after a Seek,
// the next Read makes a new request from that position. ctx must not end before the reading has.
// CreatedAt is in whole seconds.
func (c *Client) OpenImage(ctx context.Context, id imagegen.ImageID) (*imagegen.ImageFile, error) {
	path := wire.ImagePath(imagegen.ImageID(url.PathEscape(string(id))))
	plain := http.Header{"Accept-Encoding": {"identity"}}
	answer, stored, err := c.getImage(ctx, path, plain)
	if err != nil {
		return nil, err
	}
	described := answer
	if stored { // only the service describes the image
		if described, err = c.do(ctx, http.MethodHead, path, plain, nil); err != nil {
			answer.Body.Close()
			return nil, err
		}
	}
	etag := described.Header.Get("ETag")
	created, timeErr := http.ParseTime(described.Header.Get("Last-Modified"))
	if described.ContentLength < 0 || etag == "" || timeErr != nil {
		answer.Body.Close()
		return nil, unreadable(fmt.Errorf("client: %s came without Content-Length, ETag or Last-Modified", path))
	}
	r := &remoteImage{client: c, ctx: ctx, path: path, etag: etag, size: described.ContentLength, body: answer.Body}
	return &imagegen.ImageFile{ReadSeekCloser: r, ID: id, MediaType: described.Header.Get("Content-Type"), Size: r.size,
		ETag: strings.Trim(etag, `"`), CreatedAt: created.In(time.UTC)}, nil
}

// getImage reads an image, also if the service leads to where it is stored: there without the key, and
// without If-Match, since a store has tags of its own. stored reports whether it was read there.
func (c *Client) getImage(ctx context.Context, path string, header http.Header) (answer *http.Response, stored bool,
	err error) {
	r, err := newRequest(ctx, http.MethodGet, c.base+path, header, nil)
	if err != nil {
		return nil, false, err
	}
	c.identify(r)
	if answer, err = c.send(r); err != nil || answer.StatusCode < 300 {
		return answer, false, err
	}
	defer finish(answer)
	to, err := answer.Location()
	if answer.StatusCode != http.StatusFound || err != nil {
		return nil, false, errorOf(answer)
	}
	if r, err = newRequest(ctx, http.MethodGet, to.String(), header, nil); err != nil {
		return nil, false, err
	}
	r.Header.Del("If-Match")
	there, err := c.send(r)
	if err == nil && there.StatusCode >= 300 {
		defer finish(there)
		err = &imagegen.Error{Code: imagegen.CodeInternal,
			Message: "the image could not be read from where the service stores it; try again",
			Err:     fmt.Errorf("%s: %s", to.Host, there.Status)} // not the address, which lets anybody read the image
	}
	return there, true, err
}

// remoteImage reads an image over HTTP. It is not safe for concurrent use. Seek only moves the position:
// the next Read continues the body if that is where it is, and else asks for the range from there.
type remoteImage struct {
	client *Client
	ctx    context.Context // of OpenImage; io.Reader has no place for one
	path   string
	etag   string // of the bytes that were opened: ranges of others are refused
	size   int64
	at     int64         // of the next Read
	body   io.ReadCloser // what is being received; nil: must be asked for
	bodyAt int64         // of the next byte of body
	closed bool
}

var errClosed = errors.New("client: the image was closed")

// Read implements io.Reader.
func (r *remoteImage) Read(p []byte) (int, error) {
	switch {
	case r.closed:
		return 0, errClosed
	case r.at >= r.size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	if err := r.requestRest(); err != nil {
		return 0, err
	}
	n, err := r.body.Read(p[:min(int64(len(p)), r.size-r.at)])
	r.at += int64(n)
	r.bodyAt = r.at
	if err == io.EOF && r.at < r.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// requestRest requests the bytes from r.at on, unless the body is already there. If-Match makes sure that they
// belong to the same image.
func (r *remoteImage) requestRest() error {
	if r.body != nil && r.bodyAt == r.at {
		return nil
	}
	r.drop()
	h := http.Header{"Range": {fmt.Sprintf("bytes=%d-", r.at)}, "If-Match": {r.etag}}
	answer, _, err := r.client.getImage(r.ctx, r.path, h)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusPartialContent || answer.ContentLength != r.size-r.at {
		answer.Body.Close()
		return unreadable(fmt.Errorf("client: %s does not answer with ranges: %s", r.path, answer.Status))
	}
	r.body, r.bodyAt = answer.Body, r.at
	return nil
}

// Seek implements io.Seeker. It sends nothing.
func (r *remoteImage) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, errors.New("client: the image has no such position")
	}
	r.at = offset
	return offset, nil
}

// drop closes the body. Closed before its end, it costs its connection.
func (r *remoteImage) drop() {
	if r.body != nil {
		r.body.Close()
		r.body = nil
	}
}

// Close implements io.Closer. It can be repeated; reading fails afterwards.
func (r *remoteImage) Close() error {
	r.closed = true
	r.drop()
	return nil
}
