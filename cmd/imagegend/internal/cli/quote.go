package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen"
)

// quoteCommand makes its request as generate does, so that both refuse the same. It checks that reference images can be
// read, and does not send them.
func (a *app) quoteCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "quote PROMPT",
		Short: "ask the service what images would cost",
		Long: "Asks the service what images would cost, and whether it can make them as requested. Nothing is made, charged\n" +
			"or kept, and reference images are counted, not sent.",
		Example: "  imagegend quote \"a fox in the snow\" --size 2048x2048 --n 4\n" +
			"  imagegend quote \"the same fox, at night\" --ref fox.png --json",
		Args: exactly("PROMPT"),
	}
	a.settings.QuoteFlags(c.Flags())
	asJSON := jsonFlag(c, "one JSON object: the price, what it is for, and the balance")
	c.RunE = a.action(func(cmd *cobra.Command, args []string) error {
		request, err := a.request(cmd, args[0])
		if err != nil {
			return err
		}
		s, done, err := a.service(cmd)
		if err != nil {
			return err
		}
		defer done()
		q, err := a.price(cmd.Context(), s, request)
		if err != nil {
			return err
		}
		return a.printResult(*asJSON, quoted{q.Model, q.Ratio, q.Tier, q.Effort, q.N, q.Price, q.Credits,
			q.Balance.Credits}, "%s",
			inWords(q))
	})
	return c
}

// price asks for a quote. Nothing is charged, so after an interruption there is nothing to say about work that goes
// on.
func (a *app) price(ctx context.Context, s imagegen.Service, r imagegen.GenerateRequest) (imagegen.Quote, error) {
	if err := chooseModel(ctx, s, &r); err != nil {
		return imagegen.Quote{}, a.unreachable(err)
	}
	q, err := s.Quote(ctx, r)
	if why, gone := a.gone(err); gone {
		return q, why
	}
	return q, explain(err)
}

// quoted is a quote as --json prints it. AspectRatio and Quality are what the policy made of the size and quality
// that were asked for; Quality is the tier. Price is that of one image, and Credits that of all N.
type quoted struct {
	Model       string           `json:"model"`
	AspectRatio imagegen.Ratio   `json:"aspect_ratio"`
	Quality     imagegen.Tier    `json:"quality"`
	Effort      imagegen.Quality `json:"effort"`
	N           int              `json:"n"`
	Price       imagegen.Credits `json:"price"`
	Credits     imagegen.Credits `json:"credits"`
	Balance     imagegen.Credits `json:"balance"`
}

// inWords returns a quote as a sentence. A balance that is too low is part of it, and no error: the question was
// answered.
func inWords(q imagegen.Quote) string {
	words := fmt.Sprintf("%s for %s of %s, %s in %s; the account has %d", plural(q.Credits, "credit"),
		plural(q.N, "image"), q.Model, q.Ratio, q.Tier, q.Balance.Credits)
	if q.Balance.Credits < q.Credits {
		words += ", which is too few"
	}
	return words
}
