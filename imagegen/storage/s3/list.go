package s3

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// listing is a page of a list: at most 1,000 objects, as the protocol has it, in the order of their keys.
type listing struct {
	objects []listed
	now     time.Time // by the object store's clock; zero if it did not tell
}

// listed is an object of a list.
type listed struct {
	key     string    // without the prefix of the configuration
	size    int64     // in bytes
	changed time.Time // by the object store's clock; zero if it did not tell
}

// list calls f for each page of the objects whose keys begin with prefix and come behind after ("": all). Each page is
// a request of its own, with a timeout of its own, so that a bucket of any size can be listed, and f may take its time.
// It ends at the first error of f, which it returns as it is.
func (o *objects) list(ctx context.Context, prefix, after string, f func(listing) error) error {
	in := &s3.ListObjectsV2Input{Bucket: &o.bucket, Prefix: aws.String(o.prefix + prefix)}
	if after != "" {
		in.StartAfter = aws.String(o.prefix + after)
	}
	for pages := s3.NewListObjectsV2Paginator(o.client, in); pages.HasMorePages(); {
		page, err := o.page(ctx, pages)
		if err != nil {
			return unread(ctx, "list "+prefix, err)
		}
		if err := f(page); err != nil {
			return err
		}
	}
	return nil
}

func (o *objects) page(ctx context.Context, pages *s3.ListObjectsV2Paginator) (l listing, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	out, err := pages.NextPage(ctx)
	if err != nil {
		return l, err
	}
	l.now, _ = middleware.GetServerTime(out.ResultMetadata)
	for _, c := range out.Contents {
		l.objects = append(l.objects, listed{strings.TrimPrefix(aws.ToString(c.Key), o.prefix), aws.ToInt64(c.Size),
			aws.ToTime(c.LastModified)})
	}
	return l, nil
}
