// Payments grants credits for payments: it learns of each by a webhook that is signed as Stripe signs them, and asks an
// imagegend to grant what was paid for.
//
//	imagegend serve --ops-addr 127.0.0.1:9090 --ops-admin …
//	export IMAGEGEND_OPS_KEY=$(imagegend ops-key create payments --scope credits,read)
//	WEBHOOK_SECRET=whsec_… go run ./examples/payments
//
// The webhook's metadata say who has paid for how much: user=alice, credits=1000.
//
// The way back: with EVENTS_SECRET, STRIPE_KEY and STRIPE_PRICE it opens a checkout for a user whose credits run low.
// For that, imagegend has events: true, a webhook whose url is http://127.0.0.1:8090/events, and a threshold for the
// user:
//
//	imagegend user set alice --notify-below 10
package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

func main() {
	service, err := admin.New(cmp.Or(os.Getenv("IMAGEGEND_OPS_URL"), "http://127.0.0.1:9090"),
		os.Getenv("IMAGEGEND_OPS_KEY"), nil)
	if err != nil {
		log.Fatal(err)
	}
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" {
		log.Fatal("the secret by which webhooks are signed is wanted in $WEBHOOK_SECRET")
	}
	grant := func(ctx context.Context, g admin.Grant) (admin.Granted, error) {
		return admin.GrantCredits.Do(ctx, service, g)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /webhook", &webhook{grant: grant, secret: []byte(secret), now: time.Now})
	if secret, coded := strings.CutPrefix(os.Getenv("EVENTS_SECRET"), "whsec_"); coded {
		key, err := base64.StdEncoding.DecodeString(secret)
		if err != nil {
			log.Fatal("EVENTS_SECRET has to be that of the webhook: whsec_ and base64")
		}
		mux.Handle("POST /events", &low{secret: key, now: time.Now,
			name: func(ctx context.Context, id imagegen.UserID) (string, error) { return nameOf(ctx, service, id) },
			checkout: func(ctx context.Context, user, event string) error {
				return openCheckout(ctx, os.Getenv("STRIPE_KEY"), os.Getenv("STRIPE_PRICE"), user, event)
			}})
	}
	server := http.Server{Addr: cmp.Or(os.Getenv("ADDR"), "127.0.0.1:8090"), Handler: mux,
		ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// nameOf finds the name by which credits are granted to a user; events have the identifier.
func nameOf(ctx context.Context, service admin.Caller, id imagegen.UserID) (string, error) {
	all, err := admin.ListUsers.Do(ctx, service, admin.None{})
	if err != nil {
		return "", err
	}
	n := slices.IndexFunc(all, func(u admin.User) bool { return u.ID == id })
	if n < 0 {
		return "", fmt.Errorf("there is no user %s", id)
	}
	return all[n].Name, nil
}
