package replicate

import (
	"encoding/json"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// classify reads the time to wait, in seconds, where it stands in the body instead of the header.
func classify(f upstream.Failure) *imagegen.ProviderError {
	e := f.Error()
	var said struct {
		RetryAfter uint32 `json:"retry_after"`
	}
	if e.Class == imagegen.ClassRateLimited && e.RetryAfter == 0 && json.Unmarshal(f.Body, &said) == nil {
		e.RetryAfter = time.Duration(said.RetryAfter) * time.Second
	}
	return e
}
