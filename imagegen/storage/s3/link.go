package s3

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/imagegend/imagegend/imagegen"
)

// MaxLinkAge is the longest time that an address which [Images.Link] returns can be used.
const MaxLinkAge = 5 * time.Minute

// Link returns an address under which whoever has it can read an image until age has passed, which is at most
// [MaxLinkAge]. It is computed here: the object store is not asked whether there is such an image. The address leads to
// the endpoint, which callers must be able to reach. The media type is part of what is signed, so that nobody can have a
// browser take the bytes for something else. imagegen.ErrNotFound: k cannot name an image.
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
