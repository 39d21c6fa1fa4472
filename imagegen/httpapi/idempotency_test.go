package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen/engine"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

func TestReplayOverHTTP(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, body := range []string{fox(`,"n":2`), fox(`,"async":true`), `{"model":"fake-1","prompt":"[fake:fail]"}`} {
		key := []string{"Idempotency-Key", body[len(body)-9:]}
		key[1] = strings.Map(func(r rune) rune { return max(r, '!') }, key[1])
		first := s.post(body, key...)
		s.is.Equal(first.Header.Get("Idempotent-Replayed"), "")
		s.is.Equal(first.Header.Get("X-Should-Retry"), "") // with a key it is safe
		if first.StatusCode == http.StatusAccepted {
			s.ended(s.path(first.Header.Get("Location")))
		}
		again := s.post(" "+body, key...)
		s.is.Equal(again.Header.Get("Idempotent-Replayed"), "true")
		s.is.Equal(again.StatusCode, first.StatusCode)
		s.is.Equal(again.body, first.body)
		s.is.Equal(again.Header.Get("Location"), first.Header.Get("Location"))
		s.refused(s.post(fox(`,"n":4`), key...), http.StatusUnprocessableEntity, imagegen.CodeIdempotencyKeyReused)
	}
}

// The encoding, the boundary and the names of files are no part of what was asked for.
func TestSameRequestInAnotherEncoding(t *testing.T) {
	s := serve(t, httpapi.Options{})
	first := s.post(fox(""), "Idempotency-Key", "k")
	contentType, body := formOf(foxForm(part{name: "n", value: "1"})...)
	again := s.post(body, "Idempotency-Key", "k", "Content-Type", contentType)
	s.is.Equal(again.Header.Get("Idempotent-Replayed"), "true")
	s.is.Equal(again.body, first.body)

	for i, name := range []string{"a.png", "b.png"} {
		contentType, body := formOf(foxForm(part{name: []string{"image", "reference_image"}[i], file: name, value: picture(30, 30)})...)
		a := s.post(body, "Idempotency-Key", "files", "Content-Type", contentType)
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.Equal(a.Header.Get("Idempotent-Replayed") == "true", i == 1)
	}
}

// A replay names addresses where it is asked for; all else is as it was first told.
func TestReplayNamesAddressesOfTheAskingRequest(t *testing.T) {
	s := serve(t, httpapi.Options{})
	first := s.post(fox(""), "Idempotency-Key", "k")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+generations, strings.NewReader(fox("")))
	s.is.NoErr(err)
	r.Host = "other.example"
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "k")
	s.is.Equal(s.send(r).body, strings.ReplaceAll(first.body, s.server.URL, "http://other.example"))
}

func TestKeyInUseOverHTTP(t *testing.T) {
	held := hold()
	s := serve(t, httpapi.Options{}, withProvider(held), func(c *engine.Config) { c.MaxWaiting = -1 })
	first := s.postMeanwhile(t.Context(), fox(""), "Idempotency-Key", "k")
	s.until(func() bool { return strings.Contains(s.do("GET", "/api/v1/generations", "").body, `"processing"`) })
	a := s.post(fox(""), "Idempotency-Key", "k")
	s.refused(a, http.StatusConflict, imagegen.CodeIdempotencyKeyInUse)
	s.is.Equal(a.Header.Get("Retry-After"), "2")
	s.is.Equal(s.accepted(s.do("GET", s.path(a.Header.Get("Location")), ""), 200).Status, "processing")
	close(held.release)
	s.is.Equal(<-first, http.StatusInternalServerError)
}

func TestIdempotencyKeyHeader(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, key := range []string{"", "a b", "\t", "é", strings.Repeat("k", 256)} {
		s.refused(s.post(fox(""), "Idempotency-Key", key), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+generations, strings.NewReader(fox("")))
	s.is.NoErr(err)
	r.Header = http.Header{"Authorization": {"Bearer " + s.key}, "Content-Type": {"application/json"}, "Idempotency-Key": {"a", "a"}}
	s.refused(s.send(r), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.untouched()
	s.accepted(s.post(fox(""), "Idempotency-Key", strings.Repeat("~", 255)), http.StatusOK)
}

// Nothing is kept for answers that changed nothing.
func TestNothingIsKeptForRefusals(t *testing.T) {
	s := serve(t, httpapi.Options{})
	s.refused(s.post(fox(`,"n":9`), "Idempotency-Key", "k"), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	poor := "Bearer " + s.Key(t, "carol")
	s.refused(s.post(fox(""), "Idempotency-Key", "k", "Authorization", poor), http.StatusPaymentRequired, imagegen.CodeInsufficientCredits)
	s.Grant(t, "carol", 1)
	s.accepted(s.post(fox(""), "Idempotency-Key", "k", "Authorization", poor), http.StatusOK)
	s.is.Equal(s.accepted(s.post(fox(""), "Idempotency-Key", "k"), http.StatusOK).N, 1)
}
