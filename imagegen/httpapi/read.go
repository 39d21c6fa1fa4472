package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// pollAfter is the Retry-After of a generation that has not ended.
const pollAfter = 2 * time.Second

// catalog is the list of models as it is sent to users of one account type, until SetModels replaces them. It is never
// changed.
type catalog struct {
	revision uint64
	body     []byte
	etag     string
}

// encodeCatalog returns the encoded list of models for a user, which is cached until SetModels, by account type, unless
// a price depends on more than that. Operators alone make account types, so there are few.
func (a *api) encodeCatalog(ctx context.Context, session *engine.Session) (*catalog, error) {
	list, err := session.PriceList(ctx)
	if err != nil {
		return nil, err
	}
	if c, ok := a.catalogs.Load(list.AccountType); ok && !list.ByUser && c.(*catalog).revision == list.Revision {
		return c.(*catalog), nil
	}
	infos, err := list.Models(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(wire.NewModels(infos))
	if err != nil {
		return nil, err
	}
	c := &catalog{list.Revision, append(body, '\n'), fmt.Sprintf(`"%x"`, sha256.Sum256(body))}
	if !list.ByUser {
		a.catalogs.Store(list.AccountType, c)
	}
	return c, nil
}

// models answers with the list of models, or 304 if the caller has it. It needs no key: without one that can be used,
// the prices are those of the default account type.
func (a *api) models(x *exchange) error {
	session := a.engine.As("")
	switch known, err := serving.Identify(&x.Exchange, a.site, a.engine.Authenticate); {
	case err == nil:
		session = known
	case serving.StatusOf(serving.Coded(err)) != http.StatusUnauthorized:
		return err
	}
	c, err := a.encodeCatalog(x.Ctx, session)
	if err != nil {
		return err
	}
	asked := x.Request.Header
	if asked["If-Match"] != nil && !lists(asked["If-Match"], c.etag) {
		return errPreconditionFailed
	}
	caching := "no-cache" // may be stored, but is asked for each time: cheap with ETag
	if asked["Authorization"] != nil || a.site.Authenticate != nil {
		caching = "private, no-cache"
	}
	x.Header().Set("Cache-Control", caching)
	x.Header().Add("Vary", "Authorization")
	if a.site.Authenticate != nil {
		x.Header().Add("Vary", "Cookie")
	}
	x.Header().Set("Etag", c.etag)
	if asked["If-None-Match"] != nil && lists(asked["If-None-Match"], c.etag, "W/"+c.etag) {
		x.WriteHeader(http.StatusNotModified)
		return nil
	}
	x.Header().Set("Content-Type", "application/json")
	return x.Send(http.StatusOK, c.body)
}

// lists reports whether a header such as If-Match names one of these entity tags, or any with "*".
func lists(header []string, tags ...string) bool {
	for _, tag := range strings.Split(strings.Join(header, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || slices.Contains(tags, tag) {
			return true
		}
	}
	return false
}

func (a *api) balance(x *exchange) error {
	b, err := x.session.Balance(x.Ctx)
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, wire.BalanceBody{Object: "balance", Balance: *wire.NewBalance(b)})
}

// generation answers with one generation, waiting for its end if the caller prefers. One that failed
// is answered with 200: reading it did not fail.
func (a *api) generation(x *exchange) error {
	g, err := x.awaited()
	if err != nil {
		return err
	}
	if err := a.site.FindBase(&x.Exchange); err != nil {
		return err
	}
	x.Generation = g.ID
	if !g.Status.Terminal() {
		x.Header().Set("Retry-After", serving.Seconds(pollAfter))
	}
	return x.JSON(http.StatusOK, wire.NewGeneration(g, x.Base))
}
