package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// webhookCommand is for an operator who wants to know whether events arrive.
func (a *app) webhookCommand() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "webhook",
		Short: "see, test and repeat what is sent to webhooks",
		Long: "The setting webhooks names the addresses that get events. Each gets them in order, and what it does not\n" +
			"accept is tried again, so its place in the feed and its last answer say all.",
	}, a.webhookListCommand(), a.webhookTestCommand(), a.webhookResendCommand())
}

func (a *app) webhookListCommand() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "list webhooks with their place and their last answer",
		Example: "  imagegend webhook list"}
	listing(a, c, calling(admin.ListWebhooks, &admin.None{}), []string{"NAME", "ACCEPTED", "EVENT", "AT", "STATUS",
		"ANSWER", "TRIES", "SINCE"}, func(w admin.Webhook) []any {
		return []any{w.Name, w.Number, orDash(w.Event), when(w.At), w.Status, orDash(w.Answer), w.Tries, when(w.Since)}
	})
	return c
}

func (a *app) webhookTestCommand() *cobra.Command {
	var name string
	c := &cobra.Command{Use: "test NAME", Short: "send a test event to a webhook, once, and print the answer",
		Example: "  imagegend webhook test shop", Args: exactly("NAME")}
	changing(a, c, admin.TestWebhook, &name, &name, func(w admin.WebhookAnswer) string {
		if w.Status == 0 {
			return fmt.Sprint("no answer: ", plain(w.Answer))
		}
		return fmt.Sprint("status ", w.Status, " ", plain(w.Answer))
	})
	return c
}

func (a *app) webhookResendCommand() *cobra.Command {
	var r admin.Resend
	c := &cobra.Command{Use: "resend NAME [--after N]",
		Short:   "send events to a webhook again, or try at once what it has refused",
		Example: "  imagegend webhook resend shop --after 1767225600000", Args: exactly("NAME")}
	changing(a, c, admin.ResendWebhook, &r, &r.Name, func(admin.None) string {
		return fmt.Sprintf("webhook %s gets what follows within a minute", r.Name)
	})
	c.Flags().Uint64Var(&r.After, "after", 0, "everything behind this `number`; without it, what was not accepted")
	return c
}
