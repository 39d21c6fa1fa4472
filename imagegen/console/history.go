package console

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/history"
)

// HistoryHours is how many hours a [History] covers, with the current one: 48.
const HistoryHours = history.Hours

// History counts, hour by hour, how upstreams have answered and how long generations took. It covers at most
// HistoryHours, in memory, so it begins empty with each process and covers only the work of this process. It must be an
// [imagegen.Observer] of Config.Engine. It is safe for concurrent use.
type History struct{ counts *history.History }

// NewHistory returns an empty History. now should be the console's clock; nil: time.Now.
func NewHistory(now func() time.Time) *History { return &History{history.New(now)} }

var _ imagegen.Observer = (*History)(nil)

// Begin implements [imagegen.Observer].
func (h *History) Begin(ctx context.Context, _ imagegen.Event) context.Context { return ctx }

// Observe implements [imagegen.Observer]. Behind a router it counts each member that was asked, and not the attempt as
// a whole.
func (h *History) Observe(_ context.Context, e imagegen.Event) { h.counts.Observe(e) }
