package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// refUsage is the help of --ref, which grant and revoke share.
const refUsage = "`id` that makes it safe to repeat the command: a reference that was used changes nothing"

// creditCommand groups what concerns the credits of one user. Charges and refunds are none of its commands: the engine
// makes them, with the generations that they are for.
func (a *app) creditCommand() *cobra.Command {
	return parent(&cobra.Command{Use: "credit", Short: "grant, revoke and trace credits"},
		a.creditGrantCommand(), a.creditRevokeCommand(), a.creditLotsCommand(), a.creditHistoryCommand())
}

// creditGrantCommand makes one lot. Without --ref it grants again whenever it is repeated, so a script gives a
// reference, such as the number of an invoice.
func (a *app) creditGrantCommand() *cobra.Command {
	g := admin.Grant{Priority: imagegen.DefaultPriority}
	var expiry expiry
	c := &cobra.Command{
		Use:   "grant --user NAME N",
		Short: "give a user credits",
		Long: "Gives a user N credits, as one lot. Lots are consumed by priority, then by expiry, promotional ones first.\n" +
			"The same --ref again changes nothing; with another amount or on other terms it is an error.",
		Example: "  imagegend credit grant --user alice 1000 --ref invoice-2041\n" +
			"  imagegend credit grant --user alice 50 --promo --expires-in 720h",
		Args: amountArg(&g.Credits),
	}
	grant := func(ctx context.Context, s admin.Caller) (admin.Granted, error) {
		// The time begins when the command runs, so that a script that is repeated names another instant, which Grant
		// allows for.
		g.Expires = expiry.time(time.Now())
		return admin.GrantCredits.Do(ctx, s, g)
	}
	answering(a, c, grant, func(granted admin.Granted) string {
		// A repetition is a success, and says that it was one.
		if granted.Repeated {
			return usedAlready(g.Ref, granted.Lot.CreatedAt, granted.Balance)
		}
		return fmt.Sprintf("granted %s to %s in lot %s; the balance is %d", plural(granted.Lot.Granted, "credit"),
			g.User, granted.Lot.ID, granted.Balance)
	})
	userFlag(c, &g.User)
	expiry.flags(c)
	c.Flags().BoolVar(&g.Promo, "promo", false, "a gift: is consumed before what was paid for, all else being equal")
	c.Flags().Var(&config.Value[int]{To: &g.Priority, Kind: "number", Parse: parsePriority}, "priority",
		"from 1 to 100; lower is consumed first")
	c.Flags().StringVar(&g.Ref, "ref", "", refUsage)
	return c
}

// expiry is when a lot expires, given as a duration or as a time; the zero value: never. At most one is set.
type expiry struct {
	in time.Duration
	at time.Time
}

// flags declares --expires-in and --expires-at, of which cobra accepts one.
func (e *expiry) flags(c *cobra.Command) {
	c.Flags().Var(config.Duration(&e.in), "expires-in",
		"time after which the credits expire, such as 720h; without it, never")
	c.Flags().Var(instant(&e.at, parseTime), "expires-at",
		"time at which the credits expire, such as 2030-12-31T23:59:59Z")
	c.MarkFlagsMutuallyExclusive("expires-in", "expires-at")
}

// time returns the expiry as a time; zero: never.
func (e *expiry) time(now time.Time) admin.Time {
	if e.in > 0 {
		return admin.Time{Time: now.Add(e.in)}
	}
	return admin.Time{Time: e.at}
}

// creditRevokeCommand takes credits that are neither spent nor held by an open charge. If there are too few, it takes
// none: an operator who takes a payment back must know whether all of it came back.
func (a *app) creditRevokeCommand() *cobra.Command {
	var r admin.Revocation
	c := &cobra.Command{
		Use:     "revoke --user NAME N",
		Short:   "take unspent credits back, all or none",
		Example: "  imagegend credit revoke --user alice 200 --ref refund-2041",
		Args:    amountArg(&r.Credits),
	}
	answering(a, c, calling(admin.RevokeCredits, &r), func(e admin.Revoked) string {
		if e.Repeated {
			return usedAlready(r.Ref, e.Time, e.Balance)
		}
		// The entry has the change of the balance, which is negative here.
		return fmt.Sprintf("took %s back from %s; the balance is %d", plural(-e.Credits, "credit"), r.User, e.Balance)
	})
	userFlag(c, &r.User)
	// The user is required all the same: an identifier with a typing error must not take credits from somebody else.
	c.Flags().StringVar(&r.Lot, "lot", "",
		"take them from this lot only, by `id`; without it, in the order in which they would be consumed")
	c.Flags().StringVar(&r.Ref, "ref", "", refUsage)
	return c
}

// usedAlready reports a repetition, which changed nothing and is a success. at is when the reference was first used.
func usedAlready(ref string, at admin.Time, balance imagegen.Credits) string {
	return fmt.Sprintf("the reference %s was used already, at %s UTC: nothing was changed; the balance is %d", ref,
		when(at), balance)
}

// creditLotsCommand also lists lots whose credits are all held by open charges: a refund returns credits to their lots.
func (a *app) creditLotsCommand() *cobra.Command {
	var user string
	c := &cobra.Command{
		Use:     "lots --user NAME",
		Short:   "list a user's lots that still have credits, first to be consumed first",
		Example: "  imagegend credit lots --user alice",
	}
	userFlag(c, &user)
	// REMAINING can be spent; HELD is reserved for open charges, and is spent or comes back.
	listing(a, c, calling(admin.ListLots, &user), []string{"ID", "REMAINING", "HELD", "GRANTED", "PRIORITY", "PROMO",
		"CREATED", "EXPIRES", "REF"}, func(l admin.Lot) []any {
		return []any{l.ID, l.Remaining, l.Held, l.Granted, l.Priority, l.Promo, when(l.CreatedAt), when(l.ExpiresAt),
			orDash(l.Ref)}
	})
	return c
}

// creditHistoryCommand lists the entries of the journal: grants, charges, settlements, expiries and revocations.
func (a *app) creditHistoryCommand() *cobra.Command {
	var user string
	var limit int
	c := &cobra.Command{
		Use:     "history --user NAME",
		Short:   "list what changed a user's credits, newest first",
		Example: "  imagegend credit history --user alice --limit 20",
	}
	userFlag(c, &user)
	c.Flags().Var(config.Count(&limit), "limit", "how many of the newest entries to list; without it, all")
	// CREDITS is the change of the balance; USED is what a settlement spent for good.
	history := func(ctx context.Context, s admin.Caller) ([]admin.Entry, error) { return newest(ctx, s, user, limit) }
	listing(a, c, history, []string{"SEQ", "TIME", "KIND", "CREDITS", "USED", "BALANCE", "GENERATION", "MEMBER", "REF",
		"ACTOR"},
		func(e admin.Entry) []any {
			return []any{e.Seq, when(e.Time), e.Kind, fmt.Sprintf("%+d", e.Credits), e.Used, e.Balance,
				orDash(string(e.Generation)), orDash(e.Member), orDash(e.Ref), orDash(e.Actor)}
		})
	return c
}

// newest reads up to limit of the newest entries, page by page; limit 0 reads all. Entries that are written meanwhile
// are left out: a page begins below the last entry of the one before.
func newest(ctx context.Context, s admin.Caller, user string, limit int) ([]admin.Entry, error) {
	// The pages bound what one answer holds, not what is listed in the end.
	const page = 1000
	var entries []admin.Entry
	for before := uint64(0); ; {
		n := page
		if limit > 0 {
			n = min(page, limit-len(entries))
		}
		part, err := admin.ListEntries.Do(ctx, s, admin.HistoryPage{User: user, Before: before, Limit: n})
		if err != nil {
			return nil, err
		}
		entries = append(entries, part...)
		if len(part) < n || len(entries) == limit {
			return entries, nil
		}
		before = part[len(part)-1].Seq
	}
}
