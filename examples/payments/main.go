// Payments grants credits for payments: it learns of each by a webhook that is signed as Stripe signs them, and asks an
// imagegend to grant what was paid for.
//
//	imagegend serve --ops-addr 127.0.0.1:9090 --ops-admin …
//	export IMAGEGEND_OPS_KEY=$(imagegend ops-key create payments --scope credits)
//	WEBHOOK_SECRET=whsec_… go run ./examples/payments
//
// The webhook's metadata say who has paid for how much: user=alice, credits=1000.
package main

import (
	"cmp"
	"context"
	"log"
	"net/http"
	"os"
	"time"

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
	server := http.Server{Addr: cmp.Or(os.Getenv("ADDR"), "127.0.0.1:8090"), Handler: mux,
		ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
