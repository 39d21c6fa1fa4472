package adminserver

import (
	"context"
	"fmt"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/webhook"
)

func (l *Local) listWebhooks(ctx context.Context, _ admin.None) ([]admin.Webhook, error) {
	all, err := webhook.List(ctx, l.DB, l.Webhooks)
	return all, words(err)
}

func (l *Local) testWebhook(ctx context.Context, name string) (a admin.WebhookAnswer, err error) {
	if l.Webhooks == nil {
		return a, refusal("only a running server with the setting webhooks can test one; ask it over /admin/v1")
	}
	a.Status, a.Answer, err = l.Webhooks.Test(ctx, name)
	return a, webhookWords(name, err)
}

func (l *Local) resendWebhook(ctx context.Context, r admin.Resend) (none admin.None, err error) {
	err = webhook.SendAgain(ctx, l.DB, r.Name, r.After)
	if err == nil {
		err = l.DB.Note(ctx, account.TrailRow{Act: account.ActWebhookResend, Target: r.Name, Outcome: account.TrailDone,
			After: fmt.Sprint("after=", r.After)})
	}
	return none, webhookWords(r.Name, err)
}

// webhookWords explains a missing webhook.
func webhookWords(name string, err error) error {
	return missing(err, "there is no webhook %q; imagegend webhook list shows them all", name)
}
