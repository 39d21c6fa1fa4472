package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// keyCommand groups what concerns API keys, by which callers use the service. Operators' programs have keys of another
// kind, see opsKeyCommand.
func (a *app) keyCommand() *cobra.Command {
	return parent(&cobra.Command{Use: "key", Short: "create, list, limit and revoke API keys"},
		a.keyCreateCommand(), a.keyListCommand(), a.keyLimitCommand(), a.keyRevokeCommand())
}

// keyCreateCommand prints the raw key, which nobody can see again: the service stores a hash. A user can have many
// keys, so that each program has one of its own, which can be limited and revoked without touching the others.
func (a *app) keyCreateCommand() *cobra.Command {
	var k admin.NewKey
	var expiresIn time.Duration
	var onBehalf bool
	members := 1000
	c := &cobra.Command{
		Use:   "create --user NAME",
		Short: "make an API key and print it, once",
		Long: "Makes an API key. The key alone goes to standard output; it is stored nowhere and shown only now.\n" +
			"Its identifier, its user and when it expires go to standard error.\n\n" +
			"With --on-behalf the key is for a program that asks for many people: each request names one, who becomes a\n" +
			"member of the user, with the limits of --limit. Anybody who has the key can claim to be anybody.",
		Example: "  export IMAGEGEND_API_KEY=$(imagegend key create --user alice)\n" +
			"  imagegend key create --user alice --name laptop --expires-in 720h\n" +
			"  imagegend key create --user alice --name ci --limit day=20,at-once=2\n" +
			"  imagegend key create --user school --name chat --on-behalf --limit day=20 --members 30",
	}
	asJSON := jsonFlag(c, "one JSON object, the key in it")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, _ []string) error {
		// Without --expires-in the zero time stays, which means never.
		if expiresIn > 0 {
			k.Expires = admin.Time{Time: time.Now().Add(expiresIn)}
		}
		if k.Members = 0; onBehalf || cmd.Flags().Changed("members") {
			k.Members = members
		}
		made, err := admin.CreateKey.Do(cmd.Context(), s, k)
		if err != nil {
			return err
		}
		expiry := "never expires"
		if !made.ExpiresAt.IsZero() {
			expiry = "expires at " + when(made.ExpiresAt) + " UTC"
		}
		// The raw key appears here and nowhere else, not even in the audit trail.
		return a.printAlone(*asJSON, made, made.Raw, "key %s of user %s, shown only now; it %s", made.ID, k.User,
			expiry)
	})
	userFlag(c, &k.User)
	c.Flags().StringVar(&k.Name, "name", "default", "`name` that tells the key from the user's others")
	c.Flags().Var(config.Duration(&expiresIn), "expires-in",
		"time after which the key expires, such as 720h; without it, never")
	c.Flags().BoolVar(&onBehalf, "on-behalf", false, "the key is used on behalf of people, whom requests name")
	c.Flags().Var(config.Count(&members), "members",
		"`number` of people who can become members; it implies --on-behalf")
	// A key without limits can spend all that its user has.
	limitFlag(c, &k.Limits)
	return c
}

// keyListCommand also lists keys that were revoked or have expired. It shows how a raw key begins, by which a user
// recognizes it; nobody can see the rest again.
func (a *app) keyListCommand() *cobra.Command {
	var user string
	c := &cobra.Command{
		Use:     "list --user NAME",
		Short:   "list a user's keys, oldest first",
		Example: "  imagegend key list --user alice",
	}
	userFlag(c, &user)
	// LIMITS are in the form that --limit takes, to be copied and changed. Of a key on behalf of people they are those
	// of each new member, and MEMBERS says how many can come.
	listing(a, c, calling(admin.ListKeys, &user), []string{"ID", "NAME", "PREFIX", "CREATED", "EXPIRES", "REVOKED",
		"LAST USED", "LIMITS", "MEMBERS"}, func(k admin.Key) []any {
		members := "-"
		if k.Members > 0 {
			members = strconv.Itoa(k.Members)
		}
		return []any{k.ID, orDash(k.Name), k.Prefix, when(k.CreatedAt), when(k.ExpiresAt), when(k.RevokedAt),
			when(k.LastUsedAt), (*limitsValue)(&k.Limits), members}
	})
	return c
}

// keyLimitCommand requires --limit, so that a forgotten flag does not remove all limits.
func (a *app) keyLimitCommand() *cobra.Command {
	var l admin.KeyLimit
	c := &cobra.Command{
		Use:   "limit KEY_ID --limit LIMITS",
		Short: "change what a key can be used for, at once",
		Long:  "Replaces all limits of a key. Credits that it has used so far count.",
		Example: "  imagegend key limit key_01J9Z3NDEKTSV4RRFFQ69G5FAV --limit month=100,at-once=4\n" +
			"  imagegend key limit key_01J9Z3NDEKTSV4RRFFQ69G5FAV --limit none",
		Args: exactly("KEY_ID"),
	}
	limitFlag(c, &l.Limits)
	// The new limits replace the old ones altogether, so there is no default to go by.
	required(c, "limit")
	changing(a, c, admin.LimitKey, &l, &l.ID, func(k admin.Key) string {
		return fmt.Sprintf("key %s (%s) has the limits %s", k.ID, plain(k.Name), (*limitsValue)(&k.Limits))
	})
	return c
}

// keyRevokeCommand takes the identifier that list shows. A raw key in its place is refused without being repeated.
func (a *app) keyRevokeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "revoke KEY_ID",
		Short:   "make a key invalid, at once and for good",
		Example: "  imagegend key revoke key_01J9Z3NDEKTSV4RRFFQ69G5FAV",
		Args:    exactly("KEY_ID"),
	}
	var id imagegen.KeyID
	changing(a, c, admin.RevokeKey, &id, &id, func(k admin.Key) string {
		return fmt.Sprintf("key %s (%s) is revoked", k.ID, plain(k.Name))
	})
	return c
}
