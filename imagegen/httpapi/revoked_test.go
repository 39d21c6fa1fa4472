package httpapi_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// A key that is revoked, or whose user is disabled, while a body comes is refused at its end: nothing is
// charged, nothing stays in the spool, and no former answer is sent.
func TestKeyThatIsRevokedMeanwhile(t *testing.T) {
	contentType, form := formOf(foxForm(part{name: "image", file: "a", value: picture(30, 30)})...)
	revoke := map[string]func(context.Context, *account.Accounts, imagegen.User) error{
		"revoked": func(ctx context.Context, a *account.Accounts, u imagegen.User) error {
			keys, err := a.Keys(ctx, u.ID)
			if err == nil {
				_, err = a.RevokeKey(ctx, keys[0].ID)
			}
			return err
		},
		"disabled": func(ctx context.Context, a *account.Accounts, u imagegen.User) error {
			return a.DisableUser(ctx, u.ID)
		},
	}
	for name, request := range map[string]struct {
		contentType, body string
		before            bool // the same was asked and answered before, under the same idempotency key
	}{
		"JSON":                   {"application/json", fox(""), false},
		"JSON, in background":    {"application/json", fox(`,"async":true`), false},
		"JSON, again":            {"application/json", fox(""), true},
		"JSON, background again": {"application/json", fox(`,"async":true`), true},
		"a form":                 {contentType, form, false},
		"a form, again":          {contentType, form, true},
		"unfit":                  {"application/json", fox(`,"n":100`), false},
	} {
		for how, revoke := range revoke {
			t.Run(name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var spool imagegentest.CountedSpool
					l := connect(t, spool.Watch)
					u, err := l.Accounts().CreateUser(t.Context(), "carol", "")
					l.is.NoErr(err)
					l.Grant(t, u.ID, 10)
					l.key = l.Key(t, u.ID)
					l.header = "Idempotency-Key: k\r\n"
					half := len(request.body) / 2
					if request.before {
						l.ask(request.contentType, len(request.body))
						l.say("%s", request.body)
						status, _ := l.hear()
						l.is.True(status/100 == 2)
					}
					synctest.Wait()
					before, err := l.As(u.ID).Balance(t.Context())
					l.is.NoErr(err)

					l.ask(request.contentType, len(request.body))
					l.say("%s", request.body[:half])
					synctest.Wait()
					l.is.NoErr(revoke(t.Context(), l.Accounts(), u))
					l.say("%s", request.body[half:])
					status, answer := l.hear()
					want := http.StatusUnauthorized
					if name == "unfit" {
						want = http.StatusBadRequest
					}
					if status != want {
						t.Errorf("got %d %s", status, answer)
					}
					synctest.Wait()
					after, err := l.As(u.ID).Balance(t.Context())
					l.is.NoErr(err)
					l.is.Equal(after, before)
					l.is.Equal(spool.Held(), 0)
				})
			})
		}
	}
}
