package serving

import (
	"context"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/internal/hostcall"
)

// forged answers a request that another site may have made a browser send: browsers add cookies to such requests, but
// never a key.
func forged(cause error) error {
	return &imagegen.Error{Code: imagegen.CodeMissingKey, Err: cause,
		Message: "a page of another site cannot use a sign-in; send an API key: Authorization: Bearer <API_KEY>"}
}

// signIn asks the host who signed in. What changes something must come from a page of this site. The host's function
// gets a copy of the request, for it may go on when the request is over, and no body.
func (s *Site) signIn(x *Exchange) error {
	if err := s.guard.Check(x.Request); err != nil {
		return forged(err)
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
