package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const (
	// mostParts is the most parts that the protocol allows of one object.
	mostParts = 10_000
	// abandonLimit bounds how long parts are waited for to be dropped. It is short, since a process that ends waits for
	// that too; what is left, DropUnfinished drops.
	abandonLimit = 5 * time.Second
	// completeLimit is how long an object store may take to put the parts together, for which it may copy them all.
	completeLimit = 5 * time.Minute
)

// parts is an object on its way in several requests (a multipart upload). Under its name nothing changes before
// complete.
type parts struct {
	*objects
	key string // with the prefix
	id  string
}

// part is one of them, as complete has to name it.
type part struct {
	PartNumber int
	ETag       string
}

// putParts makes an object of a file part by part; the parts are larger than partSize if there would be more than
// mostParts otherwise. Where that fails, the parts that are there are dropped, also if ctx has ended: they take space
// that has to be paid for, and no listing of objects shows them.
func (f *Files) putParts(ctx context.Context, name string, file *os.File, size int64) error {
	p, err := f.objects.beginUpload(ctx, name)
	if err != nil {
		return err
	}
	done, err := p.send(ctx, file, size, max(f.partSize, (size+mostParts-1)/mostParts))
	if err == nil {
		err = p.complete(ctx, done)
	}
	if err == nil {
		return nil
	}
	drop, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonLimit)
	defer cancel()
	return errors.Join(err, p.abandon(drop))
}

// beginUpload announces an object in parts. The object store has an entry for it from then on, until it is completed or
// abandoned.
func (o *objects) beginUpload(ctx context.Context, key string) (*parts, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	p := &parts{objects: o, key: o.prefix + key}
	var begun struct{ UploadId string }
	_, err := o.client.read(ctx, call{method: http.MethodPost, key: p.key, query: url.Values{"uploads": {""}},
		header: map[string]string{"Content-Type": contentType}}, &begun)
	if err != nil {
		return nil, understood("put "+key, err)
	}
	p.id = begun.UploadId
	return p, nil
}

// send sends the parts of a file one after the other, and returns what complete has to name. Each is summed up before
// it is sent, so a file is read twice.
func (p *parts) send(ctx context.Context, file *os.File, size, partSize int64) (done []part, err error) {
	for from := int64(0); from < size; from += partSize {
		one, err := p.sendOne(ctx, len(done)+1, io.NewSectionReader(file, from, min(partSize, size-from)))
		if err != nil {
			return nil, understood("put a part of "+p.key, err)
		}
		done = append(done, one)
	}
	return done, nil
}

// sendOne sends one part; the parts are numbered from 1.
func (p *parts) sendOne(ctx context.Context, number int, r *io.SectionReader) (part, error) {
	sum, err := sumOf(ctx, r)
	if err != nil {
		return part{}, err
	}
	ctx, watch := watched(ctx, p.timeout)
	defer watch.stop()
	sent, err := p.client.read(ctx, call{method: http.MethodPut, key: p.key,
		query:  url.Values{"uploadId": {p.id}, "partNumber": {strconv.Itoa(number)}},
		header: map[string]string{"Content-MD5": sum},
		body:   func() io.Reader { return watch.section(r, r.Size()) }, size: r.Size()}, nil)
	if err != nil {
		return part{}, err
	}
	return part{number, sent.Get("ETag")}, nil
}

// complete makes one object of the parts, all at once, in the place of what was there before under its name.
func (p *parts) complete(ctx context.Context, done []part) error {
	ctx, cancel := context.WithTimeout(ctx, max(p.timeout, completeLimit))
	defer cancel()
	text, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []part
	}{Part: done})
	if err != nil {
		return err
	}
	_, err = p.client.read(ctx, call{method: http.MethodPost, key: p.key, query: url.Values{"uploadId": {p.id}},
		header: map[string]string{"Content-Type": "application/xml"},
		body:   func() io.Reader { return bytes.NewReader(text) }, size: int64(len(text))}, &struct{}{})
	return understood("put the parts of "+p.key+" together", err)
}

// abandon drops the parts. It succeeds if there are none.
func (p *parts) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	_, err := p.client.read(ctx, call{method: http.MethodDelete, key: p.key,
		query: url.Values{"uploadId": {p.id}}}, nil)
	if err = understood("drop the parts of "+p.key, err); errors.Is(err, imagegen.ErrNotFound) {
		return nil
	}
	return err
}

// DropUnfinished removes the parts of unfinished files whose names begin with begin. A process that ends during a Put
// leaves such parts. DropUnfinished cannot distinguish them from the parts of a Put that is still running, in this or
// another process, and makes such a Put fail. So call it only while nobody puts files with such names.
func (f *Files) DropUnfinished(ctx context.Context, begin string) error {
	query := url.Values{"uploads": {""}, "prefix": {f.objects.prefix + begin}}
	for more := true; more; {
		page, err := f.objects.unfinished(ctx, query)
		if err != nil {
			return unread(ctx, "list what is unfinished", err)
		}
		for _, u := range page.Upload {
			if err := (&parts{f.objects, u.Key, u.UploadId}).abandon(ctx); err != nil {
				return err
			}
		}
		query.Set("key-marker", page.NextKeyMarker)
		query.Set("upload-id-marker", page.NextUploadIdMarker)
		more = page.IsTruncated
	}
	return nil
}

// uploads is a page of what was begun and neither completed nor abandoned.
type uploads struct {
	Upload                            []struct{ Key, UploadId string }
	IsTruncated                       bool
	NextKeyMarker, NextUploadIdMarker string
}

func (o *objects) unfinished(ctx context.Context, query url.Values) (page uploads, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	_, err = o.client.read(ctx, call{method: http.MethodGet, query: query}, &page)
	return page, err
}

// sumOf returns the MD5 of what r holds, in base64, as the header Content-MD5 has it. It reads r from where it is, and
// leaves it at its beginning.
func sumOf(ctx context.Context, r *io.SectionReader) (string, error) {
	sum := md5.New()
	if _, err := kv.Copy(ctx, sum, r); err != nil {
		return "", err
	}
	_, err := r.Seek(0, io.SeekStart)
	return base64.StdEncoding.EncodeToString(sum.Sum(nil)), err
}
