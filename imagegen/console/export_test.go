package console

import (
	"strings"

	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/password"
	"github.com/imagegend/imagegend/imagegen/console/internal/signin"
	"github.com/imagegend/imagegend/imagegen/console/internal/system"
)

// Hashes returns how many passwords were hashed.
func (c *Console) Hashes() int64 { return c.signIn.Passwords.Computed() }

// Route is a line of the table of routes.
type Route struct {
	Method, Path       string // {name} stands for any segment
	SignedIn, Operator bool   // whom it is for
}

// Routes lists every route.
func Routes() (routes []Route) {
	c := &Console{signIn: &signin.Pages{}, system: &system.Pages{}}
	for _, r := range c.routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		path = strings.TrimPrefix(strings.TrimSuffix(path, "{$}"), "/")
		routes = append(routes, Route{method, path, r.Access >= frame.SignedIn, r.Access >= frame.Operator})
	}
	return routes
}

// Overburden makes the console refuse to hash passwords, as under a flood of them, until free is called.
func (c *Console) Overburden() (free func()) {
	before := c.signIn.Passwords
	c.signIn.Passwords = new(password.Hasher)
	return func() { c.signIn.Passwords = before }
}
