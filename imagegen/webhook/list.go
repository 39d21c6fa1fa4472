package webhook

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// List returns by name how far endpoints have come, those of former configurations too. d is nil in a process that does
// not deliver; then what only a server knows is left out.
func List(ctx context.Context, feed imagegen.FeedKeeper, d *Deliverer) ([]admin.Webhook, error) {
	places, err := feed.FeedPlaces(ctx)
	if err != nil {
		return nil, err
	}
	all := []admin.Webhook{}
	for _, p := range places {
		all = append(all, admin.Webhook{Name: p.Reader, Number: p.Number, Event: p.Event, At: admin.Time{Time: p.At},
			Tries: p.Tries, Since: admin.Time{Time: p.Since},
			WebhookAnswer: admin.WebhookAnswer{Status: p.Status, Answer: p.Answer}})
	}
	if d != nil {
		for _, e := range d.endpoints {
			i := slices.IndexFunc(all, func(w admin.Webhook) bool { return w.Name == e.Name })
			if i < 0 { // it has begun just now
				i, all = len(all), append(all, admin.Webhook{Name: e.Name})
			}
			if err := d.describe(ctx, e, &all[i]); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(all, func(a, b admin.Webhook) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// describe adds what only a server knows of an endpoint.
func (d *Deliverer) describe(ctx context.Context, e *endpoint, w *admin.Webhook) error {
	u, err := url.Parse(e.URL)
	if err != nil {
		return err
	}
	w.URL, w.Kinds = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String(), e.Kinds
	if w.Tries > 0 {
		w.Failing, w.Next.Time = d.now().Sub(w.Since.Time) >= failingAfter, w.At.Add(pauseAfter(w.Tries))
	}
	if w.Number > 0 {
		events, err := d.feed.Feed(ctx, w.Number, admin.MaxWaiting)
		if err != nil {
			return err
		}
		w.Waiting = len(slices.DeleteFunc(events, func(event imagegen.FeedEvent) bool { return !e.wants(event) }))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	w.Deliveries = slices.Clone(e.latest)
	// The place has the last try of any process, without its type.
	if w.Event != "" && (len(e.latest) == 0 || w.At.After(e.latest[0].At.Time)) {
		w.Deliveries = slices.Insert(w.Deliveries, 0,
			admin.Delivery{At: w.At, Event: w.Event, WebhookAnswer: w.WebhookAnswer})
	}
	return nil
}

// pauseAfter is the time between the last of so many tries and the next.
func pauseAfter(tries int) time.Duration { return pauses[min(tries, len(pauses))-1] }
