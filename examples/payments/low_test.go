package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// A low balance leads to one checkout, and the payment to one grant, however often each of them is notified.
func TestTheWayBack(t *testing.T) {
	is := is.New(t)
	now := func() time.Time { return at }
	checkouts, grants := make(map[string]string), make(map[string]imagegen.Credits)
	events := &low{secret: []byte("secret"), now: now,
		name: func(_ context.Context, id imagegen.UserID) (string, error) {
			return strings.TrimPrefix(string(id), "usr_"), nil
		},
		checkout: func(_ context.Context, user, event string) error {
			checkouts[event] = user // as Stripe does by Idempotency-Key
			return nil
		}}
	payments := &webhook{secret: []byte("secret"), now: now,
		grant: func(_ context.Context, g admin.Grant) (admin.Granted, error) {
			grants[g.Ref] = g.Credits // as the service does by the reference
			return admin.Granted{}, nil
		}}
	post := func(h http.Handler, body string, header http.Header) int {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header = header
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	event := `{"id":"evt_9","type":"credits.low","data":{"user":"usr_alice","balance":8,"below":10}}`
	mac := hmac.New(sha256.New, []byte("secret"))
	fmt.Fprintf(mac, "evt_9.%d.%s", at.Unix(), event)
	signed := http.Header{"Webhook-Id": {"evt_9"}, "Webhook-Timestamp": {fmt.Sprint(at.Unix())},
		"Webhook-Signature": {"v1,AAAA v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))}}
	for range 2 {
		is.Equal(post(events, event, signed), http.StatusOK)
	}
	is.Equal(checkouts, map[string]string{"evt_9": "alice"})
	for range 2 {
		is.Equal(post(payments, paid, http.Header{"Stripe-Signature": {sign("secret", paid, at)}}), http.StatusOK)
	}
	is.Equal(grants, map[string]imagegen.Credits{"evt_1": 100})
	is.Equal(post(events, event+" ", signed), http.StatusUnauthorized)
	is.Equal(post(events, event, http.Header{}), http.StatusUnauthorized)
}
