package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/imagegend/imagegend/imagegen"
)

// ledger is the billing system as the engine sees it. What an answer means is all there is to it: the
// engine repeats what failed in passing, and undoes what stays in doubt.
type ledger struct {
	base string
	http *http.Client
}

var (
	_ imagegen.Ledger       = ledger{}
	_ imagegen.ChargeLister = ledger{}
)

// Charge implements imagegen.Ledger. The bill names model, tier and number of images.
func (l ledger) Charge(ctx context.Context, c imagegen.Charge) error {
	return l.call(ctx, http.MethodPut, "/charges/"+url.PathEscape(string(c.ID)), c, nil)
}

// Settle implements imagegen.Ledger.
func (l ledger) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	return l.call(ctx, http.MethodPut, "/charges/"+url.PathEscape(string(id))+"/settlement", used, nil)
}

// Balance implements imagegen.Ledger.
func (l ledger) Balance(ctx context.Context, u imagegen.UserID) (b imagegen.Balance, err error) {
	err = l.call(ctx, http.MethodGet, "/accounts/"+url.PathEscape(string(u)), nil, &b.Credits)
	return b, err
}

// OpenCharges implements imagegen.ChargeLister, so that Engine.Reconcile can look for what no generation accounts for.
func (l ledger) OpenCharges(ctx context.Context, after imagegen.ChargeID, n int) (open []imagegen.Charge, err error) {
	err = l.call(ctx, http.MethodGet, "/charges?after="+url.QueryEscape(string(after)), nil, &open)
	return open[:min(n, len(open))], err
}

// call makes a request of the billing system. Without an answer nobody knows what became of it: such an
// error is returned as it is.
func (l ledger) call(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, l.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := l.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := meaning(answer.StatusCode); err != nil || out == nil {
		return err
	}
	return json.NewDecoder(answer.Body).Decode(out)
}

// meaning is what the engine understands of a status. 503 comes before anything is done; any other that is
// not named leaves the outcome unknown.
func meaning(status int) error {
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusPaymentRequired:
		return imagegen.ErrInsufficientCredits
	case http.StatusForbidden:
		return imagegen.ChargeRefused("this account is suspended; write to billing@example.com")
	case http.StatusNotFound:
		return imagegen.ErrNotFound
	case http.StatusConflict:
		return imagegen.ErrChargeConflict
	case http.StatusGone:
		return imagegen.ErrChargeClosed
	case http.StatusServiceUnavailable:
		return fmt.Errorf("%w: the billing system is busy", imagegen.ErrNotApplied)
	}
	return fmt.Errorf("the billing system answers %d", status)
}
