package console_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// deliveries is an admin.Caller with the webhooks of a test.
type deliveries struct {
	webhooks []admin.Webhook
	answer   admin.WebhookAnswer // to a test event
	resent   []admin.Resend
	err      error
}

func (d *deliveries) Call(_ context.Context, name, _ string, in, out any) error {
	switch name {
	case admin.ListWebhooks.Name:
		*out.(*[]admin.Webhook) = append([]admin.Webhook{{Name: "former"}}, d.webhooks...)
	case admin.TestWebhook.Name:
		*out.(*admin.WebhookAnswer) = d.answer
	case admin.ResendWebhook.Name:
		d.resent = append(d.resent, *in.(*admin.Resend))
	}
	return d.err
}

// delivers is a site whose operator looks at the webhooks of a test.
func delivers(t *testing.T) (*site, *deliveries, *visitor) {
	t.Helper()
	at := admin.Time{Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	refused := admin.WebhookAnswer{Status: 500, Answer: "<closed for lunch>"}
	d := &deliveries{webhooks: []admin.Webhook{
		{Name: "shop", URL: "https://shop.example", Kinds: []imagegen.FeedKind{imagegen.FeedLow, imagegen.FeedFailed},
			Number: 1767225600123, Waiting: 2, Tries: 3, Since: at, Next: at, WebhookAnswer: refused, Event: "evt_2",
			Deliveries: []admin.Delivery{{At: at, Number: 1767225600124, Event: "evt_2", Type: imagegen.FeedLow,
				WebhookAnswer: refused}, {At: at, Event: "evt_1", WebhookAnswer: admin.WebhookAnswer{Status: 204}}}},
		{Name: "a/b c", URL: "https://lake.example"},
	}}
	s := open(t, func(c *console.Config) { c.Admin, c.Webhooks = d, true })
	return s, d, s.operator()
}

func TestWebhooks(t *testing.T) {
	s, d, v := delivers(t)
	a := v.get("webhooks")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has(`aria-current="page">Webhooks`, "https://shop.example", "waiting</span>", "3 times", "2 events",
		"<code>credits.low</code>, <code>generation.failed</code>", "1767225600123", "2 Jan 2026, 03:04 UTC",
		"500</span>", "&lt;closed for lunch&gt;", "204</span>", "fine</span>", "all events", "Nothing was sent yet."))
	s.is.True(!a.has("former"))
	d.webhooks[0].Failing = true
	s.is.True(v.get("webhooks").has("failing</span>"))
	d.err = errors.New("no database")
	s.is.Equal(v.get("webhooks").StatusCode, http.StatusInternalServerError)
}

// A test event is sent once; an answer that does not accept it is shown as a fault.
func TestTestWebhook(t *testing.T) {
	s, d, v := delivers(t)
	d.answer.Status = http.StatusNoContent
	s.is.True(v.follow(v.post("webhooks/test", "name", "a/b c")).has("a/b c accepted the test event, with status 204."))
	d.answer.Status = http.StatusBadGateway
	a := v.post("webhooks/test", "name", "a/b c")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("a/b c did not accept the test event"))
	s.is.Equal(strings.Count(a.body, "did not accept"), 1)
	for _, name := range []string{"former", "nobody", ""} {
		s.is.Equal(v.post("webhooks/test", "name", name).StatusCode, http.StatusNotFound)
		s.is.Equal(v.post("webhooks/resend", "name", name).StatusCode, http.StatusNotFound)
	}
	s.is.Equal(len(d.resent), 0)
}

// Events are sent again from one of them, or from a day on; what was not accepted is never left out.
func TestResendWebhook(t *testing.T) {
	s, d, v := delivers(t)
	for _, c := range []struct {
		field, value, says string
		after              uint64
	}{
		{"number", "1767225600100", "from that event on", 1767225600099},
		{"number", "1", "from that event on", 0},
		{"since", "2025-12-31", "everything since 31 Dec 2025", 1767139199999},
		{"since", "2030-01-01", "everything since 1 Jan 2030", 1767225600123},
		{"since", "1969-01-01", "everything since", 1},
		{"since", "tomorrow", "what it has not accepted", 0},
	} {
		s.is.True(v.follow(v.post("webhooks/resend", "name", "shop", c.field, c.value)).has(c.says))
		s.is.Equal(d.resent[len(d.resent)-1], admin.Resend{Name: "shop", After: c.after})
	}
	s.clock.Advance(10 * time.Minute) // it asks for a confirmation first, as other acts do
	s.is.Equal(v.post("webhooks/resend", "name", "shop").StatusCode, http.StatusForbidden)
	s.is.Equal(len(d.resent), 6)
}

// Where there are no webhooks, the page says what to set, and the navigation does not lead there.
func TestNoWebhooks(t *testing.T) {
	for name, c := range map[string]struct {
		events bool
		says   string
	}{"off": {false, "Events are off: set <code>events: true</code>"}, "on": {true, "Events are kept"}} {
		t.Run(name, func(t *testing.T) {
			s := openOver(t, func(e *engine.Config) { e.Feed = c.events },
				func(c *console.Config) { c.Admin = &deliveries{} })
			a := s.operator().get("webhooks")
			s.is.True(a.has("No webhook is configured", c.says) && !a.has(`/console/webhooks"`))
		})
	}
	s := open(t)
	v := s.operator()
	s.is.Equal(v.get("webhooks").StatusCode, http.StatusNotFound)
	s.is.Equal(v.post("webhooks/test", "name", "shop").StatusCode, http.StatusNotFound)
}
