package config

import "github.com/spf13/pflag"

// SignIn has the settings by which people sign in to the console other than with a password.
type SignIn struct {
	RequirePasskey string // PasskeyOfNobody or PasskeyOfOperators
	OIDCIssuer     string // "": there is no identity provider
	OIDCClientID   string
	// At most one of the two. A client without a secret is a public one.
	OIDCSecret     string
	OIDCSecretFile string
	OIDCName       string
	// Both or neither: the claim that holds the roles, and the value that makes an operator. Neither: the console
	// gives roles.
	OIDCRoleClaim   string
	OIDCOperators   string
	OIDCCreateUsers bool
}

// Who must have a passkey.
const (
	PasskeyOfNobody    = "nobody"
	PasskeyOfOperators = "operators"
)

// flags declares the settings for serve and its checks. Package signin checks how they go together.
func (s *SignIn) flags(fs *pflag.FlagSet) {
	declare(fs, groupConsole, func(fs *pflag.FlagSet) {
		fs.Var(newWord(&s.RequirePasskey, PasskeyOfNobody, PasskeyOfOperators), "require-passkey",
			"who needs a passkey in the account area: nobody or operators")
		fs.Var(newText(&s.OIDCIssuer, "", "URL", parseIssuer), "oidc-issuer",
			"`URL` of a provider by which people sign in with OpenID Connect, as its tokens have it")
		fs.StringVar(&s.OIDCClientID, "oidc-client-id", "", "`id` of this service at the provider")
		fs.StringVar(&s.OIDCSecret, "oidc-secret", "",
			"`secret` of this service at the provider; better kept in the environment, or in the file of --oidc-secret-file")
		fs.StringVar(&s.OIDCSecretFile, "oidc-secret-file", "", "`file` with that secret, readable by nobody else")
		fs.StringVar(&s.OIDCName, "oidc-name", "", "`name` of the provider on the sign-in page; without it, its host")
		fs.StringVar(&s.OIDCRoleClaim, "oidc-role-claim", "",
			"`claim` that says who is an operator, such as groups or realm_access.roles; without it, the console gives roles")
		fs.StringVar(&s.OIDCOperators, "oidc-operators", "",
			"`value` of that claim, or in its list, that makes a user an operator")
		declareBool(fs, &s.OIDCCreateUsers, "oidc-create-users", false,
			"make a user of everybody who signs in by the provider for the first time")
	})
}
