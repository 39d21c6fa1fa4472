package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// generationCommand groups what an operator does with the generations of any user. Callers see and delete their own
// through the API and the console.
func (a *app) generationCommand() *cobra.Command {
	return parent(&cobra.Command{Use: "generation",
		Short: "list, show and delete generations, resolve disputes about their charge"},
		a.generationListCommand(), a.generationShowCommand(), a.generationDeleteCommand(),
		a.generationDisputesCommand(), a.generationResolveCommand())
}

// generationShowCommand shows the prompt, so the audit trail records that somebody looked.
func (a *app) generationShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "show ID",
		Short:   "show all that is stored of a generation",
		Example: "  imagegend generation show gen_01J9Z3NDEKTSV4RRFFQ69G5FAV",
		Args:    exactly("ID"),
	}
	asJSON := jsonFlag(c, "one JSON object")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, args []string) error {
		g, err := admin.GetGeneration.Do(cmd.Context(), s, imagegen.GenerationID(args[0]))
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(a.stdout, g)
		}
		return a.printGeneration(g)
	})
	return c
}

// printGeneration prints one line for each field that people look for; --json has all fields. Texts of users go
// through plain.
func (a *app) printGeneration(g admin.Generation) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	line := func(name string, v any) { fmt.Fprintf(w, "%s\t%s\n", name, plain(v)) }
	line("id", g.ID)
	line("user", g.User)
	line("status", g.Status)
	line("prompt", g.Prompt)
	line("model", g.Model)
	// The request, and then what the policy made of it, by which the price goes.
	line("asked for", fmt.Sprintf("%d × %s, quality %s, %d references", g.N, g.Size, g.RequestedQuality,
		g.ReferenceCount))
	line("tier", fmt.Sprintf("%s, ratio %s", g.Quality, g.AspectRatio))
	line("credits", fmt.Sprintf("%d of %d", g.Credits, g.CreditsRequested))
	// Not the number of the attempt: a restart raises that too.
	line("retries", g.Failures)
	// In UTC, as everywhere in tables; --json says so in each time.
	line("created", when(g.CreatedAt))
	line("completed", when(g.CompletedAt))
	// What few generations have is left out of the others.
	if g.Failure != "" {
		line("failure", g.Failure)
	}
	if g.Dispute != "" {
		line("dispute", g.Dispute)
	}
	if g.Refunded {
		line("refunded", "by an operator")
	}
	for _, i := range g.Images {
		line("image", strings.TrimSuffix(fmt.Sprintf("%s, %d×%d, %s, %d bytes, %s", i.ID, i.Width, i.Height,
			i.ContentType, i.Bytes, i.Provenance), ", "))
	}
	return w.Flush()
}

// generationDeleteCommand erases what belongs to the user: images, references and prompt. A record without them stays,
// with its charge, or the books would not balance. A generation that is under way is refused.
func (a *app) generationDeleteCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "delete ID",
		Short:   "erase a generation's images, references and prompt",
		Long:    "Erases the images, references and prompt of a generation that has ended, for good. The ledger keeps its entries.",
		Example: "  imagegend generation delete gen_01J9Z3NDEKTSV4RRFFQ69G5FAV",
		Args:    exactly("ID"),
	}
	erase := func(ctx context.Context, s admin.Caller) (erased, error) {
		id := c.Flags().Arg(0)
		_, err := admin.EraseGeneration.Do(ctx, s, imagegen.GenerationID(id))
		return erased{id}, err
	}
	answering(a, c, erase, func(e erased) string { return fmt.Sprintf("generation %s is erased", e.Erased) })
	return c
}

// erased is what generation delete prints with --json.
type erased struct {
	Erased string `json:"erased"` // its identifier
}
