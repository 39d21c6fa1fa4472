package s3

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

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
	id  *string
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
	begun, err := o.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &o.bucket, Key: &p.key, ContentType: aws.String("application/octet-stream"),
	})
	if err != nil {
		return nil, understood("put "+key, err)
	}
	p.id = begun.UploadId
	return p, nil
}

// send sends the parts of a file one after the other, and returns what complete has to name. Each is summed up before
// it is sent, so a file is read twice.
func (p *parts) send(ctx context.Context, file *os.File, size, partSize int64) (done []types.CompletedPart, err error) {
	for from := int64(0); from < size; from += partSize {
		part, err := p.sendOne(ctx, int32(len(done)+1), io.NewSectionReader(file, from, min(partSize, size-from)))
		if err != nil {
			return nil, understood("put a part of "+p.key, err)
		}
		done = append(done, part)
	}
	return done, nil
}

// sendOne sends one part; the parts are numbered from 1.
func (p *parts) sendOne(ctx context.Context, number int32, r *io.SectionReader) (types.CompletedPart, error) {
	sum, err := sumOf(ctx, r)
	if err != nil {
		return types.CompletedPart{}, err
	}
	ctx, watch := watched(ctx, p.timeout)
	defer watch.stop()
	sent, err := p.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &p.bucket, Key: &p.key, UploadId: p.id, PartNumber: &number,
		Body: &watchedSection{r, watch}, ContentLength: aws.Int64(r.Size()), ContentMD5: &sum,
	})
	if err != nil {
		return types.CompletedPart{}, err
	}
	return types.CompletedPart{ETag: sent.ETag, PartNumber: &number}, nil
}

// complete makes one object of the parts, all at once, in the place of what was there before under its name.
func (p *parts) complete(ctx context.Context, done []types.CompletedPart) error {
	ctx, cancel := context.WithTimeout(ctx, max(p.timeout, completeLimit))
	defer cancel()
	_, err := p.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &p.bucket, Key: &p.key, UploadId: p.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: done},
	})
	return understood("put the parts of "+p.key+" together", err)
}

// abandon drops the parts. It succeeds if there are none.
func (p *parts) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	_, err := p.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &p.bucket, Key: &p.key,
		UploadId: p.id})
	if err = understood("drop the parts of "+p.key, err); errors.Is(err, imagegen.ErrNotFound) {
		return nil
	}
	return err
}

// DropUnfinished removes the parts of unfinished files whose names begin with begin. A process that ends during a Put
// leaves such parts. DropUnfinished cannot distinguish them from the parts of a Put that is still running, in this or
// another process, and makes such a Put fail. So call it only while nobody puts files with such names.
func (f *Files) DropUnfinished(ctx context.Context, begin string) error {
	in := &s3.ListMultipartUploadsInput{Bucket: &f.objects.bucket, Prefix: aws.String(f.objects.prefix + begin)}
	for pages := s3.NewListMultipartUploadsPaginator(f.objects.client, in); pages.HasMorePages(); {
		page, err := f.objects.unfinished(ctx, pages)
		if err != nil {
			return unread(ctx, "list what is unfinished", err)
		}
		for _, u := range page.Uploads {
			if err := (&parts{f.objects, aws.ToString(u.Key), u.UploadId}).abandon(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// unfinished reads a page of what was begun and neither completed nor abandoned.
func (o *objects) unfinished(ctx context.Context, pages *s3.ListMultipartUploadsPaginator) (
	*s3.ListMultipartUploadsOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	return pages.NextPage(ctx)
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
