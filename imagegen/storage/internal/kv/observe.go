package kv

import (
	"context"
	"log/slog"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Observe tells an observer about a commit that took so long, of so many operations; nil: there is none. A panic of the
// observer, which is called so in the configuration, is logged and changes nothing else.
func Observe(o imagegen.Observer, called string, log *slog.Logger, took time.Duration, operations int, err error) {
	if o == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			log.Error(called+" panicked", "panic", p)
		}
	}()
	o.Observe(context.Background(), imagegen.Event{Kind: imagegen.EventCommitted, Duration: took, Count: operations,
		Err: err})
}
