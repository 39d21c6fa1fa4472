package serving

import (
	"context"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/internal/hostcall"
)

// signIn asks the host who signed in. What changes something must come from a page of this site: another one can make a
// browser send a request, to which that adds cookies, but never a key. The host's function gets a copy of the request,
// for it may go on when the request is over, and no body.
func (s *Site) signIn(x *Exchange) error {
	if err := s.guard.Check(x.Request); err != nil {
		return &imagegen.Error{Code: imagegen.CodeMissingKey, Err: err,
			Message: "a page of another site cannot use a sign-in; send an API key: Authorization: Bearer <API_KEY>"}
	}
	c, err := hostcall.Do(x.Ctx, "Options.Authenticate", func(ctx context.Context) (account.Caller, error) {
		r := x.Request.Clone(ctx)
		r.Body = http.NoBody
		return s.Authenticate(r)
	})
	if err != nil {
		return err
	}
	x.signedIn = imagegen.KeyID("session " + string(c.User) + " " + c.Name)
	x.Ctx = account.WithCaller(x.Ctx, c)
	return nil
}
