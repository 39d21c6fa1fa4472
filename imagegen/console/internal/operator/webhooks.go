package operator

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// webhooksView is the data of webhooks.html.
type webhooksView struct {
	Events   bool // are kept
	Webhooks []admin.Webhook
	Form     *form.Form // which names the webhook that it was sent for
}

// Webhooks shows what becomes of the events that each configured webhook is to get. Without Config.Admin there is no
// such page.
func Webhooks(p *frame.Page) error { return showWebhooks(p, form.Filled()) }

// showWebhooks renders the page, with the form that has faults, if any.
func showWebhooks(p *frame.Page, f *form.Form) error {
	all, err := configuredWebhooks(p)
	if err != nil {
		return err
	}
	return p.RenderForms("webhooks", webhooksView{p.Engine.KeepsEvents(), all, f}, f)
}

// configuredWebhooks leaves out places that former configurations have left.
func configuredWebhooks(p *frame.Page) ([]admin.Webhook, error) {
	if p.Admin == nil {
		return nil, imagegen.ErrNotFound
	}
	all, err := admin.ListWebhooks.Do(p.Context(), p.Admin, admin.None{})
	return slices.DeleteFunc(all, func(w admin.Webhook) bool { return w.URL == "" }), err
}

// WithWebhook returns a handler that finds the webhook that the form names, for another. ErrNotFound: there is none.
func WithWebhook(h func(p *frame.Page, w admin.Webhook, f *form.Form) error) frame.Handler {
	return frame.WithForm(func(p *frame.Page, f *form.Form) error {
		all, err := configuredWebhooks(p)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(w admin.Webhook) bool { return w.Name == f.Secret("name") })
		if i < 0 {
			return imagegen.ErrNotFound
		}
		return h(p, all[i], f)
	})
}

// TestWebhook sends a test event. An answer that does not accept it is a fault of the form.
func TestWebhook(p *frame.Page, w admin.Webhook, f *form.Form) error {
	a, err := admin.TestWebhook.Do(p.Context(), p.Admin, w.Name)
	if err != nil {
		return err
	}
	if !a.Accepted() {
		f.AddFault("", "%s did not accept the test event, as the first line below says.", w.Name)
		return showWebhooks(p, f)
	}
	return p.RedirectWith(fmt.Sprintf("%s accepted the test event, with status %d.", w.Name, a.Status), "webhooks")
}

// ResendWebhook has a webhook get everything again from an event or from a day on, or else tries at once what it has
// not accepted. Nothing is left out: what comes behind its place is sent anyway.
func ResendWebhook(p *frame.Page, w admin.Webhook, f *form.Form) error {
	var from uint64 // the first number that is sent again
	done := "what it has not accepted"
	if n, err := strconv.ParseUint(f.Value("number"), 10, 64); err == nil {
		from, done = n, "everything from that event on"
	} else if day, err := time.Parse(time.DateOnly, f.Value("since")); err == nil {
		// Numbers are no lower than the milliseconds at which they were given.
		from, done = uint64(max(day.UnixMilli(), 2)), "everything since "+format.Day(day)
	}
	r := admin.Resend{Name: w.Name, After: min(max(from, 1)-1, w.Number)}
	if _, err := admin.ResendWebhook.Do(p.Context(), p.Admin, r); err != nil {
		return err
	}
	return p.RedirectWith(w.Name+" gets "+done+", within a minute.", "webhooks")
}
