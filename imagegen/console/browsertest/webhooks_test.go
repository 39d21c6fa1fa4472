package browsertest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// hooks is an admin.Caller with webhooks, none of which accepts a test event.
type hooks struct{ all []admin.Webhook }

func (h *hooks) Call(_ context.Context, name, _ string, _, out any) error {
	switch name {
	case admin.ListWebhooks.Name:
		*out.(*[]admin.Webhook) = h.all
	case admin.TestWebhook.Name:
		*out.(*admin.WebhookAnswer) = admin.WebhookAnswer{Answer: "connection refused"}
	}
	return nil
}

// connect gives a site a webhook in each state.
func (s *site) connect() {
	now := s.clock.Now()
	at := func(ago time.Duration) admin.Time { return admin.Time{Time: now.Add(-ago)} }
	number := uint64(now.UnixMilli())
	var fine []admin.Delivery
	for n, kind := range []imagegen.FeedKind{imagegen.FeedSucceeded, imagegen.FeedAccepted, imagegen.FeedGranted,
		imagegen.FeedUserCreated} {
		fine = append(fine, admin.Delivery{At: at(time.Duration(n) * time.Minute), Number: number - uint64(n),
			Type: kind, Event: fmt.Sprintf("evt_01KTV8Z5Q2M3N4P5R6S7T8V9%dX", n),
			WebhookAnswer: admin.WebhookAnswer{Status: 204}})
	}
	long := admin.WebhookAnswer{Status: 503, Answer: strings.Repeat("<html>", 60) + strings.Repeat("z", 600)}
	none := admin.WebhookAnswer{Answer: "dial tcp 203.0.113.7:443: connect: connection refused"}
	s.hooks = &hooks{[]admin.Webhook{
		{Name: "shop", URL: "https://shop.example.com", Number: number, Event: fine[0].Event, At: fine[0].At,
			WebhookAnswer: fine[0].WebhookAnswer, Deliveries: fine},
		{Name: "warehouse", URL: "http://10.0.0.7:8080", Kinds: []imagegen.FeedKind{imagegen.FeedLow,
			imagegen.FeedFailed}, Number: number - 9, Waiting: 12, Event: "evt_9", At: at(time.Minute), Tries: 3,
			Since: at(7 * time.Minute), Next: at(-4 * time.Minute), WebhookAnswer: long,
			Deliveries: []admin.Delivery{{At: at(time.Minute), Number: number - 8, Event: "evt_9",
				Type: imagegen.FeedLow, WebhookAnswer: long}, {At: at(time.Hour), Event: "evt_8",
				WebhookAnswer: admin.WebhookAnswer{Status: 200, Answer: "ok"}}}},
		{Name: strings.Repeat("w", 255), URL: "https://" + strings.Repeat("long.", 40) + "example.com",
			Kinds: imagegen.FeedKinds, Number: 1, Waiting: 1000, Event: "evt_1", At: at(day), Tries: 14, Failing: true,
			Since: at(5 * day), Next: at(-9 * time.Hour), WebhookAnswer: none,
			Deliveries: []admin.Delivery{{At: at(day), Number: 2, Event: "evt_1", Type: imagegen.FeedErased,
				WebhookAnswer: none}}},
		{Name: "new", URL: "https://new.example.com"},
	}}
	s.serve()
}

// TestWebhookPages is TestPages for the deliveries to webhooks.
func TestWebhookPages(t *testing.T) {
	s := open(t)
	olivia := s.user("olivia", account.RoleOperator)
	s.connect()
	operator := s.signedIn(olivia)
	for _, p := range []view{
		{"webhooks", "webhooks", 200, nil},
		{"webhooks-refused", "webhooks", 200, func(t *tab) { t.press("Send a test event to shop", 422) }},
		{"webhooks-resent", "webhooks", 200, func(t *tab) { t.press("Try now: warehouse", 200) }},
	} {
		operator.inspect(p)
	}
	operator.tabulate("webhooks")
	s.hooks.all = nil
	s.serve()
	s.signedIn(olivia).inspect(view{"webhooks-none", "webhooks", 200, nil})
}
