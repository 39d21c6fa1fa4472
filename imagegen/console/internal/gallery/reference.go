package gallery

import (
	"context"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// placeSeparator occurs only in names of uploaded references. A generated image is named by its identifier. An uploaded
// reference has none: its name is the identifier of the generation with which it was sent, the separator, and its place
// among the references. The name is valid as long as the service keeps the file.
const placeSeparator = "."

// SentName names the n-th reference of a generation, from 0.
func SentName(id imagegen.GenerationID, n int) string {
	return string(id) + placeSeparator + strconv.Itoa(n)
}

// sentImage returns the reference with a name made by SentName. ErrNotFound: there is none, it is not the user's, or
// it is no longer kept; also if SentName makes no such name.
func sentImage(ctx context.Context, s *engine.Session, name string) (*engine.SentReference, error) {
	id, place, _ := strings.Cut(name, placeSeparator)
	n, err := strconv.Atoi(place)
	if err != nil {
		return nil, imagegen.ErrNotFound
	}
	return s.SentReference(ctx, imagegen.GenerationID(id), n)
}

// OwnImage returns the user's image of either kind with this name. ErrNotFound.
func OwnImage(ctx context.Context, s *engine.Session, name string) (imagegen.Reference, error) {
	if strings.Contains(name, placeSeparator) {
		return sentImage(ctx, s, name)
	}
	return s.ImageAsReference(ctx, imagegen.ImageID(name))
}
