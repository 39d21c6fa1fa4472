package adminserver

import (
	"cmp"
	"context"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

func (l *Local) listEvents(ctx context.Context, q admin.EventsQuery) (admin.EventPage, error) {
	events, err := l.Engine.Events(ctx, q.After, cmp.Or(q.Limit, 100))
	if err != nil {
		return admin.EventPage{}, words(err)
	}
	p := admin.EventPage{Events: lists.Each(events, admin.ViewEvent), Next: q.After}
	if len(events) > 0 {
		p.Next = events[len(events)-1].Number
	}
	return p, nil
}

func (l *Local) setNotifyBelow(ctx context.Context, n admin.NotifyBelow) (admin.User, error) {
	return l.changing(func(ctx context.Context, id imagegen.UserID) error {
		return l.Engine.SetNotifyBelow(ctx, id, n.Below)
	})(ctx, n.User)
}
