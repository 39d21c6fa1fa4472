package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Store is an [imagegen.ImageStore] and an [imagegen.Spool] over one bucket. It is safe for concurrent use, also by
// several processes, each with a local directory of its own.
type Store struct {
	*Images
	*Spool
	objects *objects
	local   *local
}

// Images keeps images as objects. It is a part of a [Store].
type Images struct {
	objects *objects
	local   *local
}

var (
	_ imagegen.ImageStore = (*Images)(nil)
	_ imagegen.Spool      = (*Spool)(nil)

	_ imagegen.ImageLinker = (*Store)(nil)
)

// objects is the part of a bucket whose keys begin with the prefix; its methods take and return keys without that.
// Their errors are as understood makes them.
type objects struct {
	client  *client
	bucket  string
	prefix  string        // with a slash at its end; "": none
	timeout time.Duration // see Config.RequestTimeout
}

// Open opens the local directory and empties it. It does not connect to the object store, see [Store.Check]. It uses
// ctx only to find credentials. The caller closes the Store.
func Open(ctx context.Context, c Config) (*Store, error) {
	if c.Bucket == "" || c.Dir == "" {
		return nil, errors.New("s3: Config.Bucket and Config.Dir are required")
	}
	o, err := openObjects(ctx, c)
	if err != nil {
		return nil, err
	}
	dir, err := openLocal(c.Dir)
	if err != nil {
		return nil, err
	}
	return &Store{Images: &Images{o, dir}, Spool: newSpool(o, dir), objects: o, local: dir}, nil
}

func openObjects(ctx context.Context, c Config) (*objects, error) {
	client, err := newClient(ctx, c)
	if err != nil {
		return nil, err
	}
	o := &objects{client: client, bucket: c.Bucket, timeout: cmp.Or(c.RequestTimeout, defaultRequestTimeout)}
	if c.Prefix != "" {
		o.prefix = c.Prefix + "/"
	}
	return o, nil
}

// Close closes the local directory: after that, nothing can be put or staged. Open images can still be read. Files in
// the directory stay until it is opened again.
func (s *Store) Close() error { return s.local.root.Close() }

// Check puts, opens, lists and removes a test object. Its error tells an operator what to check. If it succeeds, it
// leaves nothing behind.
func (s *Store) Check(ctx context.Context) error {
	id := imagegen.NewIDs().Reference(time.Now())
	err := s.Stage(ctx, id, strings.NewReader("check"))
	for _, step := range []func() error{
		func() error { return s.Keep(ctx, id) },
		func() error { return s.objects.opens(ctx, referenceKey(id)) },
		func() error { return s.objects.list(ctx, referenceKey(id), "", func(listing) error { return nil }) },
		func() error { return s.Remove(ctx, id) },
	} {
		if err == nil { // what follows a failure would fail for the same reason
			err = step()
		}
	}
	if err != nil {
		return fmt.Errorf("bucket %s: check its name, the endpoint, and that the credentials may put, get, list and delete: %w", s.objects.bucket, err)
	}
	return nil
}
