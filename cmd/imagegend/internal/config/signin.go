package config

import "github.com/spf13/pflag"

// SignIn is how people sign in to the console beside their passwords.
type SignIn struct {
	RequirePasskey  string // of whom a passkey is demanded
	OIDCIssuer      string // "": nobody signs in by a provider
	OIDCClientID    string
	OIDCSecret      string
	OIDCSecretFile  string
	OIDCName        string
	OIDCRoleClaim   string
	OIDCOperators   string
	OIDCCreateUsers bool
}

// Of whom a passkey can be demanded.
const (
	PasskeyOfNobody    = "nobody"
	PasskeyOfOperators = "operators"
)

func (s *SignIn) flags(fs *pflag.FlagSet) {
	declare(fs, groupConsole, func(fs *pflag.FlagSet) {
		fs.Var(newWord(&s.RequirePasskey, PasskeyOfNobody, PasskeyOfOperators), "require-passkey", "who needs a passkey in the account area: nobody or operators")
		fs.Var(newText(&s.OIDCIssuer, "", "URL", parseIssuer), "oidc-issuer", "`URL` of a provider by which people sign in with OpenID Connect, as its tokens have it")
		fs.StringVar(&s.OIDCClientID, "oidc-client-id", "", "`id` of this service at the provider")
		fs.StringVar(&s.OIDCSecret, "oidc-secret", "", "`secret` of this service at the provider; better kept in the environment, or in the file of --oidc-secret-file")
		fs.StringVar(&s.OIDCSecretFile, "oidc-secret-file", "", "`file` with that secret, readable by nobody else")
		fs.StringVar(&s.OIDCName, "oidc-name", "", "`name` of the provider on the sign-in page; without it, its host")
		fs.StringVar(&s.OIDCRoleClaim, "oidc-role-claim", "", "`claim` that says who is an operator, such as groups or realm_access.roles; without it, the console gives roles")
		fs.StringVar(&s.OIDCOperators, "oidc-operators", "", "`value` of that claim, or of one of its list, that makes an operator")
		declareBool(fs, &s.OIDCCreateUsers, "oidc-create-users", false, "make a user of whoever signs in by the provider for the first time")
	})
}
