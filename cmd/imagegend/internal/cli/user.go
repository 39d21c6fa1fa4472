package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/imagegen"
)

// user groups what concerns users. There is no command that deletes one, since the ledger and the audit trail go on
// naming them. The rules about users are in package account; the commands only put them into words.
func (a *app) user() *cobra.Command {
	c := &cobra.Command{Use: "user", Short: "create, invite, list, change, suspend and disable users"}
	c.AddCommand(a.userCreate(), a.userInvite(), a.userList(), a.userSet(), a.userSuspend(), a.userResume(), a.userDisable(), a.userRemovePasskeys())
	return parent(c)
}

// userCreate adds a user and, with --credits, grants credits. These are two writes: if the second fails, the user
// exists without the credits, and the error says so. The grant needs no reference to be safe: when the command is
// repeated, the name is taken, and nothing is granted.
func (a *app) userCreate() *cobra.Command {
	var u admin.NewUser
	c := &cobra.Command{
		Use:     "create NAME",
		Short:   "add a user",
		Long:    "Adds a user. A name that exists is an error.",
		Example: "  imagegend user create alice --account-type PRO --credits 1000",
		Args:    exactly("NAME"),
	}
	asJSON := jsonFlag(c, "one JSON object")
	a.administer(c, func(cmd *cobra.Command, s admin.Service, args []string) error {
		u.Name = args[0]
		created, err := s.CreateUser(cmd.Context(), u)
		if err != nil {
			return err
		}
		return a.did(*asJSON, created, "created user %s (%s), account type %s, %s", created.Name, created.ID, created.AccountType, plural(created.Credits, "credit"))
	})
	c.Flags().StringVar(&u.AccountType, "account-type", imagegen.DefaultAccountType, "`type` of the account, such as FREE or PRO: A-Z, 0-9 and _")
	c.Flags().Var(amount(&u.Credits), "credits", "number of credits to grant at once")
	return c
}

// userList shows the credits that each user can spend; those that open charges hold are not among them. A time in one
// of the last two columns says that the user is suspended or disabled.
func (a *app) userList() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "list all users with their roles and credits",
		Example: "  imagegend user list --json",
		Args:    exactly(),
	}
	listing(a, c, admin.Service.Users, []string{"NAME", "ID", "ACCOUNT TYPE", "ROLE", "CREDITS", "CREATED", "SUSPENDED", "DISABLED"}, func(u admin.User) []any {
		return []any{u.Name, u.ID, u.AccountType, u.Role, u.Credits, when(u.CreatedAt), when(u.SuspendedAt), when(u.DisabledAt)}
	})
	return c
}

// userSet changes a word that callers see with their balance. The service derives nothing from it: what a type is
// worth is up to the operator.
func (a *app) userSet() *cobra.Command {
	var t admin.AccountType
	c := &cobra.Command{
		Use:     "set NAME --account-type TYPE",
		Short:   "change a user's account type",
		Example: "  imagegend user set alice --account-type PRO",
		Args:    exactly("NAME"),
	}
	asJSON := jsonFlag(c, "one JSON object")
	a.administer(c, func(cmd *cobra.Command, s admin.Service, args []string) error {
		t.User = args[0]
		u, err := s.SetAccountType(cmd.Context(), t)
		if err != nil {
			return err
		}
		return a.did(*asJSON, u, "user %s now has account type %s", u.Name, u.AccountType)
	})
	c.Flags().StringVar(&t.Type, "account-type", "", "`type` of the account: A-Z, 0-9 and _")
	// So far it is all that can be set, and the command would do nothing without it.
	required(c, "account-type")
	return c
}

// userDisable cannot be undone, and the name stays taken. For a time there is suspend.
func (a *app) userDisable() *cobra.Command {
	return a.userStanding(cobra.Command{
		Use:     "disable NAME",
		Short:   "shut a user out of the API and the console, for good",
		Long:    "Makes all keys and sign-ins of a user invalid, at once and for good: no more API, no more console. Their\nimages, generations and credits stay.",
		Example: "  imagegend user disable alice",
	}, admin.Service.DisableUser, "user %s is disabled")
}

// userSuspend stops what costs credits and nothing else. The user still sees and keeps everything.
func (a *app) userSuspend() *cobra.Command {
	return a.userStanding(cobra.Command{
		Use:     "suspend NAME",
		Short:   "refuse whatever a user would be charged for, until user resume",
		Long:    "Refuses every new generation of a user with 403, chargeRefused, until user resume. Keys and sign-ins can still\nread, and work under way ends as usual.",
		Example: "  imagegend user suspend alice",
	}, admin.Service.SuspendUser, "user %s is suspended")
}

// userResume succeeds also if there is no suspension, so that a script need not ask first.
func (a *app) userResume() *cobra.Command {
	return a.userStanding(cobra.Command{
		Use:     "resume NAME",
		Short:   "end a suspension",
		Example: "  imagegend user resume alice",
	}, admin.Service.ResumeUser, "user %s is not suspended any more")
}

// userRemovePasskeys leaves the account as safe as its password alone. Nothing in the service can tell whether the
// request really comes from the user.
func (a *app) userRemovePasskeys() *cobra.Command {
	return a.userStanding(cobra.Command{
		Use:     "remove-passkeys NAME",
		Short:   "let a user who lost their passkeys sign in without",
		Long:    "Removes all passkeys of a user. From then on the password alone signs in to the console, until they make another.\nMake sure that it is the user who asks.",
		Example: "  imagegend user remove-passkeys alice",
	}, admin.Service.RemovePasskeys, "user %s has no passkeys any more")
}

// userStanding completes a command that takes the name of a user, calls change with it and prints the user: done,
// which holds one %s for the name, or the user as JSON.
func (a *app) userStanding(c cobra.Command, change func(admin.Service, context.Context, string) (admin.User, error), done string) *cobra.Command {
	c.Args = exactly("NAME")
	asJSON := jsonFlag(&c, "one JSON object")
	a.administer(&c, func(cmd *cobra.Command, s admin.Service, args []string) error {
		u, err := change(s, cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.did(*asJSON, u, done, u.Name)
	})
	return &c
}
