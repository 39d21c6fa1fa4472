package s3

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
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
	query := url.Values{"list-type": {"2"}, "prefix": {o.prefix + prefix}}
	if after != "" {
		query.Set("start-after", o.prefix+after)
	}
	for {
		page, next, err := o.page(ctx, query)
		if err != nil {
			return unread(ctx, "list "+prefix, err)
		}
		if err := f(page); err != nil || next == "" {
			return err
		}
		query.Set("continuation-token", next)
	}
}

// all lists the objects whose keys begin with prefix.
func (o *objects) all(ctx context.Context, prefix string) (found []listed, err error) {
	err = o.list(ctx, prefix, "", func(page listing) error {
		found = append(found, page.objects...)
		return nil
	})
	return found, err
}

// page reads a page of a list, and what the next one is asked for with; "": it is the last.
func (o *objects) page(ctx context.Context, query url.Values) (l listing, next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	var out struct {
		Contents []struct {
			Key          string
			Size         int64
			LastModified string
		}
		IsTruncated           bool
		NextContinuationToken string
	}
	header, err := o.client.read(ctx, call{method: http.MethodGet, query: query}, &out)
	if err != nil {
		return l, "", err
	}
	l.now, _ = http.ParseTime(header.Get("Date"))
	for _, c := range out.Contents {
		changed, _ := time.Parse(time.RFC3339, c.LastModified)
		l.objects = append(l.objects, listed{strings.TrimPrefix(c.Key, o.prefix), c.Size, changed})
	}
	if !out.IsTruncated {
		out.NextContinuationToken = ""
	}
	return l, out.NextContinuationToken, nil
}
