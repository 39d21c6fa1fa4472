package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/client/admin"
)

const paid = `{"id":"evt_1","type":"checkout.session.completed","data":{"object":{"payment_status":"paid","metadata":{"user":"alice","credits":"100"}}}}`

var at = time.Unix(1_700_000_000, 0)

// sign is the header of a payload, signed with a secret at a time.
func sign(secret, payload string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), payload)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

func TestSignature(t *testing.T) {
	good := sign("secret", paid, at)
	_, signature, _ := strings.Cut(good, ",v1=")
	for name, c := range map[string]struct {
		header, payload string
		now             time.Time
		ok              bool
	}{
		"good":                      {good, paid, at, true},
		"late, within tolerance":    {good, paid, at.Add(5 * time.Minute), true},
		"too late":                  {good, paid, at.Add(5*time.Minute + time.Second), false},
		"of the future":             {good, paid, at.Add(-6 * time.Minute), false},
		"another payload":           {good, paid + " ", at, false},
		"another secret":            {sign("other", paid, at), paid, at, false},
		"another time":              {fmt.Sprintf("t=%d,v1=%s", at.Unix()+1, signature), paid, at, false},
		"a second, after a change":  {sign("old", paid, at) + ",v1=" + signature, paid, at, true},
		"another scheme":            {strings.Replace(good, "v1=", "v0=", 1), paid, at, false},
		"no signature":              {fmt.Sprintf("t=%d", at.Unix()), paid, at, false},
		"an empty signature":        {fmt.Sprintf("t=%d,v1=", at.Unix()), paid, at, false},
		"no time":                   {"v1=" + signature, paid, at, false},
		"nothing":                   {"", paid, at, false},
		"not in hexadecimal digits": {fmt.Sprintf("t=%d,v1=zz", at.Unix()), paid, at, false},
	} {
		if err := verify(c.header, []byte(c.payload), []byte("secret"), c.now); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWebhook(t *testing.T) {
	for name, c := range map[string]struct {
		payload, header string
		fails           error
		status, grants  int
	}{
		"paid":           {paid, sign("secret", paid, at), nil, http.StatusOK, 1},
		"not signed":     {paid, "", nil, http.StatusUnauthorized, 0},
		"not paid":       {payload("checkout.session.completed", "unpaid", "100"), "", nil, http.StatusOK, 0},
		"something else": {payload("charge.refunded", "paid", "100"), "", nil, http.StatusOK, 0},
		"no amount":      {payload("checkout.session.completed", "paid", ""), "", nil, http.StatusBadRequest, 0},
		"no such user": {paid, sign("secret", paid, at), &admin.Error{Status: 404}, http.StatusUnprocessableEntity,
			1},
		"service down": {paid, sign("secret", paid, at), errors.New("connection refused"),
			http.StatusInternalServerError, 1},
		"service at fault": {paid, sign("secret", paid, at), &admin.Error{Status: 503}, http.StatusInternalServerError,
			1},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			grants := 0
			h := &webhook{secret: []byte("secret"), now: func() time.Time {
				return at
			}, grant: func(_ context.Context, g admin.Grant) (admin.Granted, error) {
				grants++
				is.Equal(g, admin.Grant{User: "alice", Credits: 100, Ref: "evt_1"})
				return admin.Granted{}, c.fails
			}}
			r := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(c.payload))
			if c.header == "" && name != "not signed" {
				c.header = sign("secret", c.payload, at)
			}
			r.Header.Set("Stripe-Signature", c.header)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			is.Equal(w.Code, c.status)
			is.Equal(grants, c.grants)
		})
	}
}

func payload(kind, status, credits string) string {
	return fmt.Sprintf(`{"id":"evt_1","type":%q,"data":{"object":{"payment_status":%q,"metadata":{"user":"alice","credits":%q}}}}`, kind, status, credits)
}
