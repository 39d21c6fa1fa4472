package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Host is the sign-in of the program that embeds the console, in the place of the console's own: it has no pages then
// for signing in, passwords, passkeys and invitations, and asks for no confirmation.
type Host struct {
	// Authenticate says whom the program has signed in, such as by a cookie. imagegen.ErrMissingKey: nobody. An error
	// that is not an *imagegen.Error is a page with 500. It gets no body, has two seconds, and must be safe for
	// concurrent use. Required.
	Authenticate func(*http.Request) (engine.Caller, error)

	// Operator says who sees the operators' pages. It is asked for each page, has two seconds as well, and must be safe
	// for concurrent use. nil: nobody.
	Operator func(engine.Caller) bool

	// SignIn is the address at which people sign in, such as /login. The console adds the parameter "next" to it, the
	// path to go on to from there, such as /console/credits. Required.
	SignIn string

	// SignOut is the address to which the button sends a POST without fields, such as /logout. "": no button.
	SignOut string
}

// ownSignIn are the beginnings of paths that only the console's own sign-in has.
var ownSignIn = []string{"signin", "signout", "setup/", "invitation/", "entry/", "account", "users/new", "team/new"}

// withoutSignIn leaves out the routes that a host's sign-in takes the place of.
func withoutSignIn(routes []frame.Route) []frame.Route {
	return slices.DeleteFunc(routes, func(r frame.Route) bool {
		_, path, _ := strings.Cut(r.Pattern, " ")
		return slices.ContainsFunc(ownSignIn, func(own string) bool { return strings.HasPrefix(path, own) }) ||
			strings.HasSuffix(path, "/invitation") || strings.HasSuffix(path, "/passkeys/remove") ||
			r.Pattern == "POST users" || r.Pattern == "POST team"
	})
}
