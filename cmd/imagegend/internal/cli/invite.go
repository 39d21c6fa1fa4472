package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// userInviteCommand prints the link, which nobody can see again. An earlier link of the same user no longer works then.
// Until the link is used, nothing else changes: an old password still works, and the user keeps their role.
func (a *app) userInviteCommand() *cobra.Command {
	var i admin.Invitation
	expiresIn := admin.InvitationAge
	c := &cobra.Command{
		Use:   "invite NAME",
		Short: "make a link by which a user chooses a password for the console",
		Long: "Makes a link by which a user chooses a password for the console, once: for a new user, or for one who\n" +
			"has forgotten theirs. The link alone goes to standard output; it is stored nowhere and shown only now.",
		Example: "  imagegend user create alice && imagegend user invite alice\n" +
			"  imagegend user invite olivia --operator --expires-in 1h",
		Args: exactly("NAME"),
	}
	asJSON := jsonFlag(c, "one JSON object")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, args []string) error {
		// Without --operator the role stays as it is, so an operator who forgot a password stays one.
		i.User, i.Expires = args[0], admin.Time{Time: time.Now().Add(expiresIn)}
		link, err := admin.InviteUser.Do(cmd.Context(), s, i)
		if err != nil {
			return err
		}
		// The link exists already: an error here loses it, and the user can be invited again.
		if link.Address, err = a.leadTo(link.Address); err != nil {
			return err
		}
		return a.printAlone(*asJSON, invited{i.User, link, i.Expires}, link.Address,
			"link for %s (%s), shown only now; it works once, until %s UTC", i.User, link.Role, when(i.Expires))
	})
	c.Flags().BoolVar(&i.Operator, "operator", false,
		"make the user an operator, who sees users and the state of the service")
	c.Flags().Var(config.Duration(&expiresIn), "expires-in", "time after which the link no longer works")
	a.settings.BaseURLFlag(c.Flags(), "address that the link begins with; without it, that of the running server")
	return c
}

// invited is a link as --json prints it: whom it is for, and until when it works.
type invited struct {
	User string `json:"user"`
	admin.Link
	ExpiresAt admin.Time `json:"expires_at"`
}

// leadTo completes the address of a link, which may be a path alone. A server knows its address, but a --base-url on
// the command line counts more: the operator who typed it knows how the server is reached.
func (a *app) leadTo(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", err
	// A variable or a file can hold a --base-url that is meant for serve; only the flag is meant for this link.
	case u.Host != "" && !a.sources.Given("base-url"):
		return address, nil
	case u.Host == "" && a.settings.BaseURL == "":
		// The data was opened without a server, so nobody has said where the console is.
		fmt.Fprintf(a.stderr, "no server runs here, so the link leads to %s; --base-url names another address\n",
			config.DefaultURL)
	}
	return config.Root(cmp.Or(a.settings.BaseURL, config.DefaultURL)) + u.Path, nil
}
