package s3

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

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
	o := i.objects
	signed, err := s3.NewPresignClient(o.client).PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket: &o.bucket, Key: aws.String(o.prefix + imageKey(k)),
		ResponseContentType: &mediaType, ResponseCacheControl: aws.String("private, max-age=31536000, immutable"),
	}, s3.WithPresignExpires(age))
	if err != nil {
		return "", understood("sign "+string(k.Image), err)
	}
	return signed.URL, nil
}
