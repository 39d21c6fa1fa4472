package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// asks are a request for each way to ask for images, of a prompt.
var asks = map[string]func(s *site, prompt string, header ...string) answer{
	"generation": func(s *site, prompt string, header ...string) answer {
		return s.post(generations, `{"size":"64x48","prompt":"`+prompt+`"}`, header...)
	},
	"edit": func(s *site, prompt string, header ...string) answer {
		return s.post(edits, `{"size":"64x48","prompt":"`+prompt+`","images":[`+link(dataURI(picture(30, 30)))+`]}`,
			header...)
	},
}

// eachAsk runs a test for each of them.
func eachAsk(t *testing.T, test func(s *site, ask func(s *site, prompt string, header ...string) answer),
	change ...func(*engine.Config)) {
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			test(serve(t, openai.Options{}, change...), ask)
		})
	}
}

func TestRefusalsOfEachCall(t *testing.T) {
	eachAsk(t, func(s *site, ask func(*site, string, ...string) answer) {
		s.refused(ask(s, " "), http.StatusBadRequest, imagegen.CodeInvalidRequest, "prompt")
		s.refused(ask(s, "a fox", "Content-Encoding", "gzip"), http.StatusUnsupportedMediaType, "unsupportedEncoding",
			"")
		s.refused(ask(s, "a fox", "Authorization", "-"), http.StatusUnauthorized, imagegen.CodeMissingKey, "")
		s.refused(ask(s, "a fox", "Authorization", "Bearer "+s.Key(s.T, "nobody")), http.StatusPaymentRequired,
			imagegen.CodeInsufficientCredits, "")
		s.refused(ask(s, "[fake:transient=9]"), http.StatusInternalServerError, imagegen.CodeGenerationFailed, "")

		a := ask(s, "a fox", "Idempotency-Key", "k")
		s.made(a)
		s.refused(ask(s, "a wolf", "Idempotency-Key", "k"), http.StatusUnprocessableEntity,
			imagegen.CodeIdempotencyKeyReused, "")
		page, err := s.As(imagegentest.Alice).Generations(s.Context(), imagegen.Query{Status: imagegen.StatusSucceeded})
		s.is.NoErr(err)
		s.is.NoErr(s.Erase(s.Context(), page.Generations[0].ID))
		s.refused(ask(s, "a fox", "Idempotency-Key", "k"), http.StatusNotFound, imagegen.CodeNotFound, "")
	})
}

func TestTooManyRefusals(t *testing.T) {
	eachAsk(t, func(s *site, ask func(*site, string, ...string) answer) {
		s.refused(ask(s, "[fake:refuse]"), http.StatusBadRequest, imagegen.CodeGenerationFailed, "")
		s.refused(ask(s, "[fake:refuse]"), http.StatusTooManyRequests, imagegen.CodeRateLimited, "")
	}, func(c *engine.Config) { c.Limits.MaxRefusals = 1 })
}

// suspended is a ledger that refuses one account for good.
type suspended struct{ imagegen.Ledger }

func (suspended) Charge(context.Context, imagegen.Charge) error {
	return imagegen.ChargeRefused("this account is suspended")
}

func TestChargeRefused(t *testing.T) {
	eachAsk(t, func(s *site, ask func(*site, string, ...string) answer) {
		s.refused(ask(s, "a fox"), http.StatusForbidden, imagegen.CodeChargeRefused, "")
	}, func(c *engine.Config) { c.Ledger = suspended{c.Ledger} })
}

// held is a provider that fails once it is released.
type held struct{ called, release chan struct{} }

func (held) Name() string { return "held" }
func (held) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{MaxReferences: 1}
}
func (h held) Generate(context.Context, imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		h.called <- struct{}{}
		<-h.release
		yield(imagegen.ProviderImage{}, errors.New("trouble upstream"))
	}
}

// A busy key is refused, whatever it asks for; and so is a call whose twin is under way.
func TestBusy(t *testing.T) {
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			h := held{make(chan struct{}, 1), make(chan struct{})}
			running := imagegentest.Start(t, func(c *engine.Config) {
				c.Models[0].Provider, c.Repeats.MaxWaiting = h, -1
			})
			site := func(requests int) *site {
				return put(t, running, openai.Options{Limits: httpapi.NewLimits(requests)})
			}
			open, narrow := site(0), site(1)
			answered := make(chan answer, 1)
			go func() { answered <- ask(narrow, "a fox", "Idempotency-Key", "k") }()
			<-h.called
			narrow.refused(ask(narrow, "a wolf"), http.StatusServiceUnavailable, imagegen.CodeOverloaded, "")
			for _, path := range []string{"/v1/models", "/v1/models/fake-1"} {
				narrow.refused(narrow.do(http.MethodGet, path, nil), http.StatusServiceUnavailable,
					imagegen.CodeOverloaded, "")
			}
			twin := ask(open, "a fox", "Idempotency-Key", "k")
			open.refused(twin, http.StatusConflict, imagegen.CodeIdempotencyKeyInUse, "")
			open.is.True(twin.Header.Get("Retry-After") != "")
			close(h.release)
			narrow.refused(<-answered, http.StatusInternalServerError, imagegen.CodeGenerationFailed, "")
		})
	}
}

func TestModelWithoutAKey(t *testing.T) {
	is := is.New(t)
	s := serve(t, openai.Options{})
	s.refused(s.do(http.MethodGet, "/v1/models/fake-1", nil, "Authorization", "-"), http.StatusUnauthorized,
		imagegen.CodeMissingKey, "")
	is.Equal(s.do(http.MethodGet, "/v1/models/fake-1", nil).StatusCode, http.StatusOK)
}

// Every field that is taken is taken in every encoding.
func TestEveryFieldOfEachCall(t *testing.T) {
	s := serve(t, openai.Options{})
	_, err := s.DB.Grant(t.Context(), imagegen.Grant{User: imagegentest.Alice, Credits: 7, Expires: time.Date(2100, 1,
		2, 3, 4, 5, 0, time.UTC)})
	s.is.NoErr(err)
	values := map[string]any{"model": "fake-1", "prompt": "a fox", "n": 2, "size": "64x48", "quality": "low",
		"response_format": "url", "background": "opaque", "output_format": "jpeg", "output_compression": 80, "seed": 7,
		"max_credits": 2,
		"moderation":  "auto", "stream": false, "partial_images": 0, "user": "u", "safety_identifier": "s"}
	encoded := func() string {
		b, err := json.Marshal(values)
		s.is.NoErr(err)
		return string(b)
	}
	s.is.Equal(len(s.made(s.post(generations, encoded())).Data), 2)

	var parts []part
	for name, v := range values {
		if name != "model" && name != "prompt" && name != "size" { // which postForm sends
			parts = append(parts, part{name: name, value: fmt.Sprint(v)})
		}
	}
	parts = append(parts, part{"mask", "m.png", transparent(30, 30)})
	s.is.Equal(len(s.made(s.postForm(append(parts, files("image", 1)...)...)).Data), 2)

	values["images"] = []any{map[string]string{"image_url": dataURI(picture(30, 30))}}
	values["mask"] = map[string]string{"image_url": dataURI(transparent(30, 30))}
	s.is.Equal(len(s.made(s.post(edits, encoded())).Data), 2)
}
