package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// userCommand groups what concerns users. There is no command that deletes one, since the ledger and the audit trail go
// on naming them. The rules about users are in package account; the commands only put them into words.
func (a *app) userCommand() *cobra.Command {
	return parent(&cobra.Command{Use: "user", Short: "create, invite, list, change, suspend and disable users"},
		append(a.userStandingCommands(), a.userCreateCommand(), a.userInviteCommand(), a.userListCommand(),
			a.userSetCommand(), a.userSponsorCommand(), a.userMembersCommand())...)
}

// userCreateCommand adds a user and, with --credits, grants credits. These are two writes: if the second fails, the
// user exists without the credits, and the error says so. The grant needs no reference to be safe: when the command is
// repeated, the name is taken, and nothing is granted.
func (a *app) userCreateCommand() *cobra.Command {
	var u admin.NewUser
	c := &cobra.Command{
		Use:     "create NAME",
		Short:   "add a user",
		Long:    "Adds a user. A name that exists is an error.",
		Example: "  imagegend user create alice --account-type PRO --credits 1000",
		Args:    exactly("NAME"),
	}
	changing(a, c, admin.CreateUser, &u, &u.Name, func(u admin.User) string {
		return fmt.Sprintf("created user %s (%s), account type %s, %s", u.Name, u.ID, u.AccountType,
			plural(u.Credits, "credit"))
	})
	c.Flags().StringVar(&u.AccountType, "account-type", imagegen.DefaultAccountType,
		"`type` of the account, such as FREE or PRO: A-Z, 0-9 and _")
	c.Flags().Var(amount(&u.Credits), "credits", "number of credits to grant at once")
	return c
}

// userListCommand shows the credits that each user can spend; those that open charges hold are not among them. A time
// in one of the last two columns says that the user is suspended or disabled.
func (a *app) userListCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "list all users with their roles and credits",
		Example: "  imagegend user list --json",
	}
	listing(a, c, calling(admin.ListUsers, &admin.None{}), []string{"NAME", "ID", "ACCOUNT TYPE", "ROLE", "CREDITS",
		"SPONSOR", "CREATED", "SUSPENDED", "DISABLED"}, func(u admin.User) []any {
		return []any{u.Name, u.ID, u.AccountType, u.Role, u.Credits, orDash(u.Sponsor), when(u.CreatedAt),
			when(u.SuspendedAt), when(u.DisabledAt)}
	})
	return c
}

// userSetCommand changes a word that callers see with their balance, from which the service derives nothing, and the
// balance of which an event says that it is low. Each is a call of its own, made if its flag is there.
func (a *app) userSetCommand() *cobra.Command {
	var t admin.AccountType
	var n admin.NotifyBelow
	c := &cobra.Command{
		Use:     "set NAME [--account-type TYPE] [--notify-below N]",
		Short:   "change a user's account type, or the balance that counts as low",
		Example: "  imagegend user set alice --account-type PRO\n  imagegend user set alice --notify-below 10",
		Args:    exactly("NAME"),
	}
	set := func(ctx context.Context, s admin.Caller) (u admin.User, err error) {
		t.User = c.Flags().Arg(0)
		n.User = t.User
		if c.Flags().Changed("account-type") {
			u, err = admin.SetAccountType.Do(ctx, s, t)
		}
		if err == nil && c.Flags().Changed("notify-below") {
			u, err = admin.SetNotifyBelow.Do(ctx, s, n)
		}
		return u, err
	}
	answering(a, c, set, func(u admin.User) string {
		line := fmt.Sprintf("user %s now has account type %s", u.Name, u.AccountType)
		if u.NotifyBelow > 0 {
			line += fmt.Sprintf(", and an event says when fewer than %d credits are left", u.NotifyBelow)
		}
		return line
	})
	c.Flags().StringVar(&t.Type, "account-type", "",
		"`type` of the account: A-Z, 0-9 and _; of a member, an empty one is that of its sponsor")
	c.Flags().Int64Var((*int64)(&n.Below), "notify-below", 0,
		"`number` of credits: an event says that fewer are left; 0: none does")
	c.MarkFlagsOneRequired("account-type", "notify-below") // the command would do nothing without one
	return c
}

// userSponsorCommand requires one of its flags, so that a forgotten one does not end a sponsorship.
func (a *app) userSponsorCommand() *cobra.Command {
	var s admin.Sponsorship
	var none bool
	c := &cobra.Command{
		Use:   "sponsor NAME --by SPONSOR | --none",
		Short: "have one user pay for another, within limits",
		Long: "Has a sponsor pay for everything that a user asks for from now on. The user, its member, keeps what is its own:\n" +
			"keys, generations and images. A user with credits cannot get a sponsor, and a sponsor cannot have one.",
		Example: "  imagegend user sponsor zoe --by school --limit day=20\n" +
			"  imagegend user sponsor zoe --none",
		Args: exactly("NAME"),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if none == (s.Sponsor != "") { // the variable of a script was empty
				return usage(cmd, "--by names the sponsor; to end a sponsorship, use --none")
			}
			return nil
		},
	}
	changing(a, c, admin.SetSponsor, &s, &s.User, func(u admin.User) string {
		if u.Sponsor == "" {
			return fmt.Sprintf("user %s pays for itself", u.Name)
		}
		return fmt.Sprintf("user %s pays for %s, with the limits %s", u.Sponsor, u.Name, (*limitsValue)(u.Limits))
	})
	c.Flags().StringVar(&s.Sponsor, "by", "", "`name` of the user who pays")
	c.Flags().BoolVar(&none, "none", false, "the user pays again")
	limitFlag(c, &s.Limits)
	c.MarkFlagsOneRequired("by", "none")
	c.MarkFlagsMutuallyExclusive("by", "none")
	c.MarkFlagsMutuallyExclusive("limit", "none")
	return c
}

// userMembersCommand shows limits and what counts against them in the form that --limit takes.
func (a *app) userMembersCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "members SPONSOR",
		Short:   "list the users for whom a user pays, with their limits and what they used",
		Example: "  imagegend user members school",
		Args:    exactly("SPONSOR"),
	}
	members := func(ctx context.Context, s admin.Caller) ([]admin.Member, error) {
		return admin.ListMembers.Do(ctx, s, c.Flags().Arg(0))
	}
	listing(a, c, members, []string{"NAME", "CALLED", "ID", "LIMITS", "USED", "SUSPENDED", "DISABLED"},
		func(m admin.Member) []any {
			used := limitsValue{Credits: m.Used.Credits, Daily: m.Used.Daily, Monthly: m.Used.Monthly,
				Concurrent: m.Used.Concurrent}
			return []any{m.Name, orDash(m.Display), m.ID, (*limitsValue)(&m.Limits), &used, when(m.SuspendedAt),
				when(m.DisabledAt)}
		})
	return c
}

// userStandingCommands are those that take the name of a user and nothing else.
func (a *app) userStandingCommands() []*cobra.Command {
	return []*cobra.Command{
		// It stops what costs credits and nothing else: the user still sees and keeps everything.
		a.userStanding(cobra.Command{
			Use:     "suspend NAME",
			Short:   "refuse whatever a user would be charged for, until user resume",
			Long:    "Refuses every new generation of a user with 403, chargeRefused, until user resume. Keys and sign-ins can still\nread, and work under way ends as usual.",
			Example: "  imagegend user suspend alice",
		}, admin.SuspendUser, "user %s is suspended"),
		// It also succeeds without a suspension, so a script need not ask first.
		a.userStanding(cobra.Command{
			Use:     "resume NAME",
			Short:   "end a suspension",
			Example: "  imagegend user resume alice",
		}, admin.ResumeUser, "user %s is not suspended any more"),
		// It cannot be undone, and the name stays taken. For a time there is suspend.
		a.userStanding(cobra.Command{
			Use:     "disable NAME",
			Short:   "shut a user out of the API and the console, for good",
			Long:    "Makes all keys and sign-ins of a user invalid, at once and for good: no more API, no more console. Their\nimages, generations and credits stay.",
			Example: "  imagegend user disable alice",
		}, admin.DisableUser, "user %s is disabled"),
		// It leaves the account as safe as its password alone. Nothing in the service can tell whether the request
		// really comes from the user.
		a.userStanding(cobra.Command{
			Use:     "remove-passkeys NAME",
			Short:   "let a user who lost their passkeys sign in without",
			Long:    "Removes all passkeys of a user. From then on the password alone signs in to the console, until they make another.\nMake sure that it is the user who asks.",
			Example: "  imagegend user remove-passkeys alice",
		}, admin.RemovePasskeys, "user %s has no passkeys any more"),
	}
}

// userStanding completes a command that takes the name of a user and makes a call with it. done holds one %s for the
// name.
func (a *app) userStanding(c cobra.Command, call admin.Call[string, admin.User], done string) *cobra.Command {
	c.Args = exactly("NAME")
	var name string
	changing(a, &c, call, &name, &name, func(u admin.User) string { return fmt.Sprintf(done, u.Name) })
	return &c
}
