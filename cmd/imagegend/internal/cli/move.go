package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// move opens both places itself and asks no server. The locks and marks of the storages keep servers out.
func (a *app) move() *cobra.Command {
	c := &cobra.Command{
		Use:   "move",
		Short: "move everything from a data directory to a database and a bucket, or back",
		Long: "Moves everything from where --data-dir, or --database and --images, say to an empty place, while no server runs\n" +
			"on either. Both are audited and compared, images included, before the source is marked as moved; until then the\n" +
			"target cannot be used, and from then on the source. A move that was broken off goes on when the same command is\n" +
			"run again; --give-up has its source be used as before.",
		Example: "  imagegend move --data-dir /var/lib/imagegend --to-database postgres://db.example.com/imagegend --to-images s3://images\n" +
			"  imagegend move --database postgres://db.example.com/imagegend --images s3://images --to-data-dir ./data\n" +
			"  imagegend move --data-dir /var/lib/imagegend --give-up",
		Args: exactly(),
	}
	var to config.Data
	c.Flags().StringVar(&to.DataDir, "to-data-dir", "", "`directory`, absent or empty, to move to")
	c.Flags().StringVar(&to.Database, "to-database", "", "`address` of a PostgreSQL database to move to")
	c.Flags().StringVar(&to.Images, "to-images", "", "`address` of a bucket to move images to, beside --to-database")
	giveUp := c.Flags().Bool("give-up", false, "end a move that was broken off: the source is used as before, and what the target has is worthless")
	asJSON := jsonFlag(c, "one JSON object")
	a.settings.DataFlags(c.Flags())
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		ctx, from := admin.AsCommand(cmd.Context()), a.settings.Data
		// A target is a directory, or a database with a bucket. Half of the latter would put images where no node
		// looks.
		directory := to.DataDir != ""
		switch {
		case *giveUp && (directory || to.Database != "" || to.Images != ""):
			return usage(cmd, "--give-up is about the source, so no target can be named with it")
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

// moved is what was moved, as --json prints it. To is "" after --give-up.
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
	if err := noteMoved(ctx, to, m); err != nil {
		return fmt.Errorf("everything was moved to %s, but its audit trail does not say so: %w", m.To, err)
	}
	return a.did(asJSON, m, "moved everything from %s to %s: serve that from now on, and remove the other once you have a backup", m.From, m.To)
}

// moveData moves everything and closes both ends: the target can be opened only afterwards. tell may be nil.
func moveData(ctx context.Context, from, to config.Data, tell func(transfer.Progress)) (m moved, err error) {
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
	if m.From == m.To {
		return m, fmt.Errorf("everything is in %s already; name another target", m.To)
	}
	return m, transfer.Run(ctx, source.End, target.End, tell)
}

// noteMoved records in the target's audit trail who moved what.
func noteMoved(ctx context.Context, to config.Data, m moved) error {
	db, err := data.Open(ctx, to, data.Options{})
	if err != nil {
		return err
	}
	return errors.Join(db.Note(ctx, account.TrailRow{Act: account.ActDataMove, Before: m.From, After: m.To, Outcome: account.TrailDone}), db.Close())
}

// giveUp ends a move that broke off, so that the source can be used again.
func (a *app) giveUp(ctx context.Context, from config.Data, asJSON bool) error {
	source, err := data.OpenEnd(ctx, from, false)
	if err != nil {
		return err
	}
	if err := errors.Join(transfer.GiveUp(ctx, source.End), source.Close()); err != nil {
		return err
	}
	return a.did(asJSON, moved{From: source.Name}, "%s is used as before", source.Name)
}

// toldEvery is how often progress within one step is shown.
const toldEvery = 10 * time.Second

// tellProgress returns a function that shows each new step, and how far it has got every toldEvery. It is not safe
// for concurrent use.
func (a *app) tellProgress() func(transfer.Progress) {
	var step transfer.Step
	var told time.Time
	return func(p transfer.Progress) {
		if p.Step == step && time.Since(told) < toldEvery {
			return
		}
		if p.Step != step {
			fmt.Fprintf(a.stderr, "%s\n", p.Step)
		} else {
			fmt.Fprintf(a.stderr, "%s: %s, %s\n", p.Step, plural(p.Rows, "row"), plural(p.Files, "file"))
		}
		step, told = p.Step, time.Now()
	}
}
