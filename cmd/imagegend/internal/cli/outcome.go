package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
)

// unreachable explains why the first call failed. Nothing was charged, and the address is the likely cause.
func (a *app) unreachable(err error) error {
	e, ok := errors.AsType[*imagegen.Error](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case ok && untrusted:
		return fmt.Errorf("the certificate of %s is not trusted: %w; have this system trust it, or name its file in $SSL_CERT_FILE", a.settings.URL, e.Err)
	// An error that the service sent has no Err; package client sets it when the connection failed.
	case ok && e.Err != nil:
		return fmt.Errorf("no service answers at %s: %w; start one with imagegend serve, or name another with --url",
			a.settings.URL, e.Err)
	case ok && e.Code == imagegen.CodeNotFound:
		return fmt.Errorf("there is no service at %s; --url is its address without /api/v1", a.settings.URL)
	}
	return explain(err)
}

// unanswered explains why a request for images failed. Without an answer the work may go on, and the error says where
// to look: nobody knows the identifier of the generation, if there is one.
func (a *app) unanswered(err error) error {
	why, gone := a.gone(err)
	if !gone {
		return explain(err)
	}
	return &exit{ExitError, fmt.Errorf("%w; the work may go on and be charged: GET %s lists what was asked for", why,
		a.generations())}
}

// cancelTime bounds how long an interrupted command waits for the service to cancel the generation. A second signal
// ends the command at once.
const cancelTime = 5 * time.Second

// unwatched explains why a generation could not be watched to its end, and where it is found. If the user interrupted
// the command, it cancels the generation first: somebody who interrupts does not want to pay. A connection that broke
// cancels nothing.
func (a *app) unwatched(ctx context.Context, s imagegen.Service, id imagegen.GenerationID, err error) error {
	why, gone := a.gone(err)
	if !gone {
		return explain(err)
	}
	if errors.Is(err, context.Canceled) {
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer done()
		// Only a generation that still waits can be cancelled; one that runs goes on.
		if _, err := s.Cancel(ctx, id); err == nil {
			return &exit{ExitError, fmt.Errorf("%w; generation %s was cancelled, and its credits are back", why, id)}
		}
	}
	return &exit{ExitError, fmt.Errorf("%w; generation %s goes on and may be charged: GET %s/%s shows it", why, id,
		a.generations(), id)}
}

// gone reports whether err means that the command lost sight of work that may go on in the service, and if so why, in
// plain words. In process (--dev) the work ends with the command, so gone is always false.
func (a *app) gone(err error) (why error, gone bool) {
	e, ok := errors.AsType[*imagegen.Error](err)
	switch {
	case a.settings.Dev:
		return nil, false
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted"), true
	case ok && e.Code == imagegen.CodeInternal && e.Err != nil:
		return fmt.Errorf("no answer came from %s: %w", a.settings.URL, e.Err), true
	}
	return nil, false
}

// generations returns the address at which a caller finds what they have asked for.
func (a *app) generations() string { return a.settings.URL + "/api/v1/generations" }

// unsaved returns the error for images that were charged for but not saved. It names their addresses, except with
// --dev, where they are lost but cost nothing. images are those from the first that could not be saved.
func (a *app) unsaved(g imagegen.Generation, images []imagegen.Image, err error) error {
	if a.settings.Dev {
		return fmt.Errorf("the images could not be saved: %w", explain(err))
	}
	addresses := lists.Each(images, func(i imagegen.Image) string { return i.URL })
	why := explain(err)
	if errors.Is(err, context.Canceled) {
		why = errors.New("interrupted")
	}
	return &exit{ExitError, fmt.Errorf("generation %s was charged, but not all could be saved: %w; get the rest at %s",
		g.ID, why, strings.Join(addresses, " "))}
}

// explain puts an error of the service into words for people: without its code, and with what to do where that is
// known. Other errors, and nil, are returned as they are.
func explain(err error) error {
	e, ok := errors.AsType[*imagegen.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == imagegen.CodeInvalidKey || e.Code == imagegen.CodeExpiredKey:
		return errors.New(e.Message + "; imagegend key create --user NAME makes another")
	case e.Code == imagegen.CodeInsufficientCredits:
		return errors.New(e.Message +
			"; an operator adds some with imagegend credit grant --user NAME N, or changes what a key may use with imagegend key limit")
	}
	return errors.New(e.Message)
}
