package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// maxEvent is more bytes than any event has.
const maxEvent = 64 << 10

// webhook receives payments.
type webhook struct {
	grant  func(ctx context.Context, g admin.Grant) (admin.Granted, error)
	secret []byte
	now    func() time.Time
}

// event is what is read of an event.
type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Object struct {
			PaymentStatus string            `json:"payment_status"`
			Metadata      map[string]string `json:"metadata"`
		} `json:"object"`
	} `json:"data"`
}

// ServeHTTP grants what an event says was paid for. An event may be delivered many times: the grant goes by its
// identifier, and is made once. A status of 500 has it delivered again.
func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil {
		http.Error(w, "the event cannot be read", http.StatusBadRequest)
		return
	}
	if err := verify(r.Header.Get("Stripe-Signature"), payload, h.secret, h.now()); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	var e event
	if err := json.Unmarshal(payload, &e); err != nil || e.ID == "" {
		http.Error(w, "this is not an event", http.StatusBadRequest)
		return
	}
	paid := e.Data.Object
	if e.Type != "checkout.session.completed" || paid.PaymentStatus != "paid" {
		return // nothing was paid
	}
	credits, err := strconv.ParseInt(paid.Metadata["credits"], 10, 64)
	if err != nil {
		http.Error(w, "the metadata do not say how many credits", http.StatusBadRequest)
		return
	}
	h.credit(r.Context(), w, admin.Grant{User: paid.Metadata["user"], Credits: imagegen.Credits(credits), Ref: e.ID})
}

func (h *webhook) credit(ctx context.Context, w http.ResponseWriter, g admin.Grant) {
	granted, err := h.grant(ctx, g)
	refused, ok := errors.AsType[*admin.Error](err)
	switch {
	case err == nil:
		log.Printf("event %s: %d credits for %s, balance %d, repeated %v", g.Ref, g.Credits, g.User, granted.Balance,
			granted.Repeated)
	case ok && !refused.Temporary(): // it would be refused again: somebody must look
		log.Printf("event %s: %d credits for %s were PAID AND NOT GRANTED: %v", g.Ref, g.Credits, g.User, err)
		http.Error(w, "the credits were not granted", http.StatusUnprocessableEntity)
	default:
		log.Printf("event %s: %v", g.Ref, err)
		http.Error(w, "try again", http.StatusInternalServerError)
	}
}
