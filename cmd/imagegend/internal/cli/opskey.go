package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// opsKeyCommand and its subcommands administer the keys of operators' programs. The interface for these programs has no
// such calls, since a program could give itself more rights with them.
func (a *app) opsKeyCommand() *cobra.Command {
	// There is no command to change a key: for other scopes, operators make another key and revoke the first.
	return parent(&cobra.Command{Use: "ops-key",
		Short: "create, list and revoke operator keys, by which programs administer the service"},
		a.opsKeyCreateCommand(), a.opsKeyListCommand(), a.opsKeyRevokeCommand())
}

// opsKeyCreateCommand prints the raw key, which nobody can see again. Unlike an API key, an operator key always
// expires: --expires-in has a default and cannot be 0.
func (a *app) opsKeyCreateCommand() *cobra.Command {
	var k admin.NewOpsKey
	expiresIn := 90 * 24 * time.Hour
	c := &cobra.Command{
		Use:   "create NAME --scope SCOPE",
		Short: "make an operator key and print it, once",
		Long: "Makes a key by which a program administers the service over HTTP, see serve --ops-admin. The key alone goes to\n" +
			"standard output; it is stored nowhere and shown only now. A scope is what it may do:\n\n" + scopeHelp(),
		Example: "  export IMAGEGEND_OPS_KEY=$(imagegend ops-key create payments --scope credits)\n" +
			"  imagegend ops-key create report --scope read --expires-in 24h",
		Args: exactly("NAME"),
	}
	// There is no default: the operator who makes a key decides what it may do.
	c.Flags().StringSliceVar(&k.Scopes, "scope", nil,
		"`scope` of the key; repeatable")
	required(c, "scope")
	c.Flags().Var(config.Duration(&expiresIn), "expires-in", "time after which the key expires")
	asJSON := jsonFlag(c, "one JSON object, the key in it")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, args []string) error {
		k.Name, k.Expires = args[0], admin.Time{Time: time.Now().Add(expiresIn)}
		made, err := admin.CreateOpsKey.Do(cmd.Context(), s, k)
		if err != nil {
			return err
		}
		return a.printAlone(*asJSON, made, made.Raw, "operator key %s (%s), shown only now; it may %s until %s UTC",
			made.ID, plain(made.Name), strings.Join(made.Scopes, ", "), when(made.ExpiresAt))
	})
	return c
}

// scopeHelp says of each scope what a key with it may do.
func scopeHelp() string {
	may := map[account.Scope]string{
		account.ScopeRead: "see users, keys, credits, generations without their prompts, events, the audit trail, " +
			"the state of the service",
		account.ScopeUsers:   "create, change, suspend and disable users",
		account.ScopeKeys:    "make, limit and revoke API keys, and so read and spend as any user",
		account.ScopeCredits: "grant credits, take them back, set who pays for a user",
		account.ScopeData: "read prompts, erase generations, settle disputes, audit, back up, confirm the clock, " +
			"test and repeat webhooks",
		account.ScopeAll: "everything, invitations to the console and profiles too",
	}
	var lines []string
	for _, s := range account.ScopeNames() {
		lines = append(lines, fmt.Sprintf("  %-8s %s", s, may[s]))
	}
	return strings.Join(lines, "\n")
}

// opsKeyListCommand also lists keys that were revoked or have expired. It shows how a raw key begins, by which an
// operator recognizes it.
func (a *app) opsKeyListCommand() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "list all operator keys, oldest first", Example: "  imagegend ops-key list"}
	// SCOPES are joined by commas alone: one cell, which is also what --scope takes.
	listing(a, c, calling(admin.ListOpsKeys, &admin.None{}), []string{"ID", "NAME", "PREFIX", "SCOPES", "CREATED",
		"EXPIRES", "REVOKED"}, func(k admin.OpsKey) []any {
		return []any{k.ID, k.Name, k.Prefix, strings.Join(k.Scopes, ","), when(k.CreatedAt), when(k.ExpiresAt),
			when(k.RevokedAt)}
	})
	return c
}

// opsKeyRevokeCommand takes the identifier that list shows. A raw key in its place is refused without being repeated.
func (a *app) opsKeyRevokeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "revoke ID",
		Short:   "make an operator key invalid, at once and for good",
		Example: "  imagegend ops-key revoke opk_01J9Z3NDEKTSV4RRFFQ69G5FAV",
		Args:    exactly("ID"),
	}
	var id imagegen.OperatorKeyID
	changing(a, c, admin.RevokeOpsKey, &id, &id, func(k admin.OpsKey) string {
		return fmt.Sprintf("operator key %s (%s) is revoked", k.ID, plain(k.Name))
	})
	return c
}
