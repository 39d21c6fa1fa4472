package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// reads are the requests that read what belongs to a key's owner.
var reads = []string{"/api/v1/credits", "/api/v1/usage", "/api/v1/generations",
	"/api/v1/generations/gen_00000000000000000000000000"}

// cancelNone cancels what does not exist.
const cancelNone = "/api/v1/generations/gen_00000000000000000000000000/cancel"

func TestEveryReadAsksForAKey(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, path := range reads {
		a := s.do("GET", path, "", "Authorization", "-")
		s.refused(a, http.StatusUnauthorized, imagegen.CodeMissingKey)
		s.is.Equal(a.Header.Get("WWW-Authenticate"), "Bearer")
	}
	s.refused(s.post(fox(""), "Authorization", "Bearer nonsense"), http.StatusUnauthorized, imagegen.CodeInvalidKey)
	s.refused(s.quote(fox(""), "Authorization", "-"), http.StatusUnauthorized, imagegen.CodeMissingKey)
	s.refused(s.do("POST", cancelNone, "", "Authorization", "-"), http.StatusUnauthorized, imagegen.CodeMissingKey)
	s.untouched()
}

// A busy key is refused, whatever it asks for.
func TestEveryReadIsBounded(t *testing.T) {
	held := hold()
	s := serve(t, httpapi.Options{MaxConcurrentRequests: 1}, withProvider(held))
	answered := make(chan answer, 1)
	go func() { answered <- s.post(fox("")) }()
	<-held.called
	for _, path := range reads {
		a := s.do("GET", path, "")
		s.refused(a, http.StatusServiceUnavailable, imagegen.CodeOverloaded)
		s.is.Equal(a.Header.Get("Retry-After"), "1")
	}
	s.refused(s.quote(fox("")), http.StatusServiceUnavailable, imagegen.CodeOverloaded)
	s.refused(s.do("POST", cancelNone, ""), http.StatusServiceUnavailable, imagegen.CodeOverloaded)
	close(held.release)
	s.refused(<-answered, http.StatusInternalServerError, imagegen.CodeGenerationFailed)
}

// broken is a storage, and a ledger, that cannot be read.
type broken struct {
	imagegen.Store
	imagegen.CreditAdmin
}

var errBroken = errors.New("secret trouble of the disk")

func (broken) Balance(context.Context, imagegen.UserID) (imagegen.Balance, error) {
	return imagegen.Balance{}, errBroken
}

func (broken) Usage(context.Context, imagegen.UserID, imagegen.UsageQuery) ([]imagegen.Usage, error) {
	return nil, errBroken
}

func (broken) Generation(context.Context, imagegen.GenerationID) (imagegen.Record, error) {
	return imagegen.Record{}, errBroken
}

func (broken) Generations(context.Context, imagegen.UserID, imagegen.Query) ([]imagegen.Record, bool, error) {
	return nil, false, errBroken
}

// A fault says nothing of what it comes from.
func TestEveryReadCanFail(t *testing.T) {
	s := serve(t, httpapi.Options{}, func(c *engine.Config) {
		c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
		b := broken{c.Store, c.Ledger.(imagegen.CreditAdmin)}
		c.Store, c.Ledger = b, b
	})
	for _, path := range reads {
		s.is.Equal(s.refused(s.do("GET", path, ""), http.StatusInternalServerError, imagegen.CodeInternal),
			imagegen.ErrInternal.Message)
	}
	s.refused(s.quote(fox("")), http.StatusInternalServerError, imagegen.CodeInternal)
	s.refused(s.do("POST", cancelNone, ""), http.StatusInternalServerError, imagegen.CodeInternal)
}

// Waiting work can be cancelled, repeatedly; work of an upstream cannot, nor a generation of another user.
func TestCancelStatuses(t *testing.T) {
	held := hold()
	s := serve(t, httpapi.Options{}, withProvider(held), func(c *engine.Config) { c.Limits.Concurrency = 1 })
	cancel := func(g generation, body string) answer {
		return s.do("POST", "/api/v1/generations/"+g.ID+"/cancel", body)
	}
	works := s.accepted(s.post(fox(`,"async":true`)), http.StatusAccepted)
	<-held.called
	waits := s.accepted(s.post(fox(`,"async":true`)), http.StatusAccepted)
	s.refused(s.do("POST", cancelNone, ""), http.StatusNotFound, imagegen.CodeNotFound)
	s.refused(cancel(waits, `{"why":1}`), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.refused(cancel(works, ""), http.StatusConflict, imagegen.CodeNotCancellable)
	for range 2 {
		var g generation
		s.decoded(cancel(waits, ""), &g)
		s.is.Equal(g.Status, "failed")
	}
	close(held.release)
}

func TestIdempotencyStatuses(t *testing.T) {
	held := hold()
	busy := serve(t, httpapi.Options{}, withProvider(held), func(c *engine.Config) { c.Repeats.MaxWaiting = -1 })
	answered := make(chan answer, 1)
	go func() { answered <- busy.post(fox(""), "Idempotency-Key", "k") }()
	<-held.called
	a := busy.post(fox(""), "Idempotency-Key", "k")
	busy.refused(a, http.StatusConflict, imagegen.CodeIdempotencyKeyInUse)
	busy.is.True(a.Header.Get("Retry-After") != "")
	close(held.release)
	<-answered

	s := serve(t, httpapi.Options{})
	g := s.accepted(s.post(fox(`,"response_format":"url"`), "Idempotency-Key", "k"), http.StatusOK)
	s.refused(s.post(fox(`,"n":2`), "Idempotency-Key", "k"), http.StatusUnprocessableEntity,
		imagegen.CodeIdempotencyKeyReused)
	s.is.NoErr(s.Engine.Erase(t.Context(), imagegen.GenerationID(g.ID)))
	s.refused(s.post(fox(""), "Idempotency-Key", "k"), http.StatusNotFound, imagegen.CodeNotFound)
}

func TestTooManyRefusals(t *testing.T) {
	s := serve(t, httpapi.Options{}, func(c *engine.Config) { c.Limits.MaxRefusals = 1 })
	refused := `{"model":"fake-1","prompt":"[fake:refuse] a fox"}`
	s.refused(s.post(refused), http.StatusInternalServerError, imagegen.CodeGenerationFailed)
	a := s.post(refused)
	s.refused(a, http.StatusTooManyRequests, imagegen.CodeRateLimited)
	s.is.True(a.Header.Get("Retry-After") != "")
}

// An answer with addresses needs to know where the service is reached.
func TestGenerationFromNowhere(t *testing.T) {
	s := serve(t, httpapi.Options{})
	g := s.accepted(s.post(fox("")), http.StatusOK)
	r := s.request(http.MethodGet, s.path(g.PollURL), nil)
	r.Host = "a@b"
	s.refused(s.send(r), http.StatusBadRequest, imagegen.CodeInvalidRequest)
}

func TestReadyAndCached(t *testing.T) {
	s := serve(t, httpapi.Options{})
	s.bodyIs(s.do("GET", "/readyz", ""), `{"ready":true}`)
	first := s.accepted(s.post(fox("")), http.StatusOK)
	image := s.do("GET", s.path(first.Images[0].URL), "")
	again := s.do("GET", s.path(first.Images[0].URL), "", "If-None-Match", image.Header.Get("ETag"))
	s.is.Equal(again.StatusCode, http.StatusNotModified)
	s.is.Equal(again.body, "")

	s.accepted(s.post(fox("")), http.StatusOK)
	page := s.do("GET", "/api/v1/generations?limit=1", "")
	var next struct {
		Next string `json:"next_cursor"`
	}
	s.decoded(page, &next)
	rest := s.do("GET", "/api/v1/generations?after="+next.Next, "")
	var list struct{ Data []generation }
	s.decoded(rest, &list)
	s.is.Equal(len(list.Data), 1)
	s.is.Equal(list.Data[0].ID, first.ID)
}
