package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/imagegend/imagegend/imagegen"
)

// Store is an [imagegen.ImageStore] and an [imagegen.Spool] over one bucket. It is safe for concurrent use, by
// several processes too, each with a directory of its own.
type Store struct {
	*Images
	*Spool
	objects *objects
	local   *local
}

// Images keeps images as objects.
type Images struct {
	objects *objects
	local   *local
}

var (
	_ imagegen.ImageStore = (*Images)(nil)
	_ imagegen.Spool      = (*Spool)(nil)
)

// objects is the bucket, each key below the prefix.
type objects struct {
	client  *s3.Client
	bucket  string
	prefix  string
	timeout time.Duration
}

// Open empties the local directory and takes it; it asks the object store nothing, see [Store.Check].
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

// Close lets the local directory go. Images that are open can be read on.
func (s *Store) Close() error { return s.local.root.Close() }

// Check puts, opens and removes an object of its own, and says what an operator can do if that fails.
func (s *Store) Check(ctx context.Context) error {
	id := imagegen.NewIDs().Reference(time.Now())
	err := s.Stage(ctx, id, strings.NewReader("check"))
	if err == nil {
		err = errors.Join(s.Keep(ctx, id), s.objects.opens(ctx, referenceKey(id)), s.Remove(ctx, id))
	}
	if err != nil {
		return fmt.Errorf("bucket %s: check its name, the endpoint, and that the credentials may put, get, list and delete: %w", s.objects.bucket, err)
	}
	return nil
}
