package s3

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// MaxLinkAge is the maximum age of an address from [Images.Link].
const MaxLinkAge = 5 * time.Minute

// Link implements [imagegen.ImageLinker]. It returns an address from which anybody can read an image until age has
// passed. It is an error if age is not positive or exceeds [MaxLinkAge]. Link does not connect to the object store, so
// it does not notice that an image does not exist. The address leads to the endpoint, which callers must be able to
// reach. The signature includes the media type, so that nobody can make a browser interpret the bytes as another type.
// imagegen.ErrNotFound: k cannot be the key of an image.
func (i *Images) Link(ctx context.Context, k imagegen.ImageKey, mediaType string, age time.Duration) (string, error) {
	if !isImageKey(k) {
		return "", imagegen.ErrNotFound
	}
	if age <= 0 || age > MaxLinkAge {
		return "", errors.New("s3: a link can be used for up to 5 minutes")
	}
	c := i.objects.client
	keys, err := c.credentials.Retrieve(ctx)
	if err != nil {
		return "", understood("sign "+string(k.Image), err)
	}
	r, err := c.request(ctx, call{method: http.MethodGet, key: i.objects.prefix + imageKey(k), query: url.Values{
		"response-content-type": {mediaType}, "response-cache-control": {"private, max-age=31536000, immutable"},
		"X-Amz-Expires": {strconv.Itoa(int(age.Seconds()))}}})
	if err != nil {
		return "", err
	}
	address, _, err := c.signer.PresignHTTP(ctx, keys, r, unsigned, "s3", c.region, c.now())
	return address, err
}
