package vertex

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"github.com/imagegend/imagegend/imagegen"
)

// tokenTime is how long a token may take to be fetched.
const tokenTime = 30 * time.Second

// tokens fetches an access token when the last one is about to expire. It is safe for concurrent use.
type tokens struct{ source oauth2.TokenSource }

// newTokens fetches at the account's token_uri, without a proxy and without following
// redirects, as package upstream does.
func newTokens(account *jwt.Config) *tokens {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // as for every upstream
	client := &http.Client{Transport: transport, Timeout: tokenTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &tokens{oauth2.ReuseTokenSource(nil, account.TokenSource(context.WithValue(context.Background(),
		oauth2.HTTPClient, client)))}
}

// get returns an access token, or the error of unfetched. If ctx ends first, it returns the cause, and the token is
// fetched nevertheless, for the next call.
func (t *tokens) get(ctx context.Context) (imagegen.Secret, error) {
	type result struct {
		token *oauth2.Token
		err   error
	}
	fetched := make(chan result, 1)
	go func() {
		token, err := t.source.Token()
		fetched <- result{token, err}
	}()
	select {
	case r := <-fetched:
		if r.err != nil {
			return "", unfetched(r.err)
		}
		return imagegen.Secret(r.token.AccessToken), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// unfetched is of ClassBlocked if Google refused the account, and of ClassUnavailable if the token could not be
// fetched for another reason. Nothing was asked of the models in either case.
func unfetched(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if ok && refused.Response != nil && refused.Response.StatusCode/100 == 4 &&
		refused.Response.StatusCode != http.StatusTooManyRequests {
		return &imagegen.ProviderError{Class: imagegen.ClassBlocked, Message: "Google refused the service account",
			Err: errors.New(refused.Error())}
	}
	return &imagegen.ProviderError{Class: imagegen.ClassUnavailable,
		Message: "no token could be fetched for the service account", Err: err}
}
