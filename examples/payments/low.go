package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// low receives the events of the service, and opens a checkout for a user whose balance is low. An event may come many
// times: its identifier goes to the checkout, which is opened once for each. Nothing is granted here: that follows from
// the payment.
type low struct {
	name     func(ctx context.Context, id imagegen.UserID) (string, error)
	checkout func(ctx context.Context, user, event string) error
	secret   []byte // what follows whsec_, decoded
	now      func() time.Time
}

func (h *low) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil || !h.signed(r.Header, body) {
		http.Error(w, "the signature does not do", http.StatusUnauthorized)
		return
	}
	var e admin.Event
	if err := json.Unmarshal(body, &e); err != nil {
		http.Error(w, "this is not an event", http.StatusBadRequest)
		return
	}
	if e.Type != imagegen.FeedLow {
		return // accepted, and of no interest
	}
	user, err := h.name(r.Context(), e.Data.User)
	if err == nil {
		err = h.checkout(r.Context(), user, e.ID)
	}
	if err != nil {
		log.Printf("event %s: %v", e.ID, err)
		http.Error(w, "try again", http.StatusInternalServerError)
	}
}

// signed checks a signature of Standard Webhooks: one of those in the header must be ours.
func (h *low) signed(header http.Header, body []byte) bool {
	id, at := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || h.now().Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, h.secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, s := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(s), []byte(want)) {
			return true
		}
	}
	return false
}

// openCheckout asks Stripe for a page at which a user pays for 1,000 credits, and sends its address to them: here, to
// the log. The identifier of the event makes it one page, however often it is asked for.
func openCheckout(ctx context.Context, key, price, user, event string) error {
	form := url.Values{"mode": {"payment"}, "line_items[0][price]": {price}, "line_items[0][quantity]": {"1"},
		"metadata[user]": {user}, "metadata[credits]": {"1000"}, "success_url": {"https://shop.example.com/thanks"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.stripe.com/v1/checkout/sessions",
		strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Idempotency-Key", event)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var session struct{ URL string }
	if err := json.NewDecoder(resp.Body).Decode(&session); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("stripe answered with %s", resp.Status)
	}
	log.Printf("%s has few credits left, and can pay at %s", user, session.URL)
	return nil
}
