package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// moveCommand opens both places itself and asks no server. The storages keep servers out: with the lock of a directory,
// and with marks at both ends until the move has ended.
func (a *app) moveCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "move",
		Short: "move everything from a data directory to a database and a bucket, or back",
		Long: "Moves everything from the place that --data-dir, or --database and --images, name to an empty one, while no server\n" +
			"runs on either. Both are audited and compared, images included, before the source is marked as moved. Until then the\n" +
			"target cannot be used; from then on the source cannot. If a move is interrupted, run the same command again to\n" +
			"finish it, or give it up with --give-up and use the source as before.",
		Example: "  imagegend move --data-dir /var/lib/imagegend --to-database postgres://db.example.com/imagegend --to-images s3://images\n" +
			"  imagegend move --database postgres://db.example.com/imagegend --images s3://images --to-data-dir ./data\n" +
			"  imagegend move --data-dir /var/lib/imagegend --give-up",
	}
	// These are flags of the command and no settings, so that neither a variable nor a file can name a target.
	var to config.Data
	c.Flags().StringVar(&to.DataDir, "to-data-dir", "", "`directory`, absent or empty, to move to")
	c.Flags().StringVar(&to.Database, "to-database", "", "`address` of a PostgreSQL database to move to")
	c.Flags().StringVar(&to.DatabaseSchema, "to-database-schema", config.DefaultSchema,
		"`name` of the schema of --to-database to move to")
	c.Flags().StringVar(&to.Images, "to-images", "", "`address` of a bucket to move images to, beside --to-database")
	giveUp := c.Flags().Bool("give-up", false,
		"end a move that was interrupted: the source can be used as before, and what the target has is worthless")
	asJSON := jsonFlag(c, "one JSON object")
	a.settings.DataFlags(c.Flags())
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		ctx, from := adminserver.AsCommand(cmd.Context()), a.settings.Data
		// A target is a directory, or a database with a bucket. Half of the latter would put images where no node
		// looks.
		directory := to.DataDir != ""
		switch {
		case *giveUp && (directory || to.Database != "" || to.Images != ""):
			return usage(cmd, "--give-up is about the source, so no target can be named with it")
		// Only the source has to be opened: its mark says that it is being moved.
		case *giveUp:
			return a.giveUp(ctx, from, *asJSON)
		case directory == (to.Database != "" || to.Images != ""):
			return usage(cmd, "name one target: --to-data-dir, or --to-database and --to-images")
		case !directory && (to.Database == "" || to.Images == ""):
			return usage(cmd, "--to-database and --to-images go together")
		}
		return a.moveTo(ctx, from, to, *asJSON)
	})
	return c
}

// moved names the two ends of a move, as --json prints them. To is "" after --give-up.
type moved struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// moveTo moves everything and notes it in the target's audit trail. If the note fails, everything was moved all the
// same, and the error says so.
func (a *app) moveTo(ctx context.Context, from, to config.Data, asJSON bool) error {
	// A program that reads the JSON has no use for progress.
	tell := a.tellProgress()
	if asJSON {
		tell = nil
	}
	m, err := moveData(ctx, from, to, tell)
	if err != nil {
		return err
	}
	// The note opens the target in the ordinary way, which also shows that it can be used.
	if err := noteMoved(ctx, to, m); err != nil {
		return fmt.Errorf("everything was moved to %s, but its audit trail does not say so: %w", m.To, err)
	}
	return a.printResult(asJSON, m,
		"moved everything from %s to %s: serve that from now on, and remove the other once you have a backup", m.From,
		m.To)
}

// moveData moves everything and closes both ends, since the target can be opened for ordinary use only afterwards.
// After an error the same command goes on from where this one stopped, or finds the source as it was. tell may be nil.
func moveData(ctx context.Context, from, to config.Data, tell func(transfer.Progress)) (m moved, err error) {
	// The source is to be removed one day, and the target would go with it.
	if !from.Shared() && !to.Shared() && data.Inside(to.DataDir, from.DataDir) {
		return m, fmt.Errorf("%s lies in %s, from which everything is to be moved; name a directory elsewhere",
			to.DataDir, from.DataDir)
	}
	source, err := data.OpenEnd(ctx, from, false)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := data.OpenEnd(ctx, to, true)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	m = moved{source.Name, target.Name}
	// Both names are resolved by now, so two spellings of one database are seen to be the same.
	if m.From == m.To {
		return m, fmt.Errorf("everything is in %s already; name another target", m.To)
	}
	return m, transfer.Run(ctx, source.End, target.End, tell)
}

// noteMoved records in the target's audit trail who moved what. The source cannot be written any more.
func noteMoved(ctx context.Context, to config.Data, m moved) error {
	db, err := data.Open(ctx, to, data.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.Note(ctx, account.TrailRow{Act: account.ActDataMove, Before: m.From, After: m.To,
		Outcome: account.TrailDone}), db.Close())
}

// giveUp ends a move that was interrupted, so that the source can be used again. The target is not touched: whatever
// it holds, it still cannot be used.
func (a *app) giveUp(ctx context.Context, from config.Data, asJSON bool) error {
	source, err := data.OpenEnd(ctx, from, false)
	if err != nil {
		return err
	}
	if err := errors.Join(transfer.GiveUp(ctx, source.End), source.Close()); err != nil {
		return err
	}
	return a.printResult(asJSON, moved{From: source.Name}, "%s is used as before", source.Name)
}

// progressEvery is how often progress within one step is shown.
const progressEvery = 10 * time.Second

// tellProgress returns a function that shows each new step on standard error, and how far the step has got every
// progressEvery, so that the log of a move that takes hours stays short. It is not safe for concurrent use.
func (a *app) tellProgress() func(transfer.Progress) {
	var step transfer.Step
	var shown time.Time
	return func(p transfer.Progress) {
		if p.Step == step && time.Since(shown) < progressEvery {
			return
		}
		if p.Step != step {
			fmt.Fprintf(a.stderr, "%s\n", p.Step)
		} else {
			fmt.Fprintf(a.stderr, "%s: %s, %s\n", p.Step, plural(p.Rows, "row"), plural(p.Files, "file"))
		}
		step, shown = p.Step, time.Now()
	}
}
