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

// Store is an [imagegen.ImageStore] and an [imagegen.Spool] over one bucket. It is safe for concurrent use, also by
// several processes, each with a local directory of its own.
type Store struct {
	*Images
	*Spool
	objects *objects
	local   *local
}

// Images keeps images as objects. The local directory has them until they are put.
type Images struct {
	objects *objects
	local   *local
}

var (
	_ imagegen.ImageStore = (*Images)(nil)
	_ imagegen.Spool      = (*Spool)(nil)
)

// objects is the part of a bucket whose keys begin with the prefix; its methods take and return keys without that. Their
// errors are as understood makes them.
type objects struct {
	client  *s3.Client
	bucket  string
	prefix  string        // with a slash at its end; "": none
	timeout time.Duration // see Config.RequestTimeout
}

// Open empties the local directory and takes it. It asks the object store nothing, see [Store.Check]; ctx counts only
// while it looks for credentials. The caller closes the Store.
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

// Close lets the local directory go: nothing can be put or staged any more. Images that are open can be read on. Files
// in the directory stay there until it is opened again.
func (s *Store) Close() error { return s.local.root.Close() }

// Check puts, opens and removes an object of its own, and says what an operator can do if that fails. It leaves nothing
// behind if it succeeds.
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
