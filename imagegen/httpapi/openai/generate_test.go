package openai_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/provider"
)

func TestGenerate(t *testing.T) {
	s := serve(t, openai.Options{})
	a := s.post(generations, fox(`,"n":3`))
	got := s.made(a)
	s.pictures(got, 3, 64, 48)
	s.is.Equal(cmp.Diff([]string{"64x48", "auto", "png", "auto"}, []string{got.Size, got.Quality, got.Format,
		got.Background}), "")
	s.is.Equal(got.Credits, imagegen.Credits(3))
	s.is.Equal(got.Balance.Credits, imagegen.Credits(97))
	g, err := s.As(imagegentest.Alice).Generation(t.Context(), imagegen.GenerationID(got.ID))
	s.is.NoErr(err)
	s.is.Equal(got.Created, g.CreatedAt.Unix())
	s.is.Equal(a.Header.Get("Location"), s.server.URL+"/api/v1/generations/"+got.ID)
	s.is.Equal(a.Header.Get("Content-Type"), "application/json")
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
	s.is.True(a.Header.Get("X-Request-Id") != "")
	s.is.True(!strings.Contains(a.body, `"url"`) && !strings.Contains(a.body, `"usage"`))
	s.credits(97)
}

// Addresses lead to where package httpapi serves the images.
func TestAddresses(t *testing.T) {
	s := serve(t, openai.Options{})
	native := httpapi.NewHandler(s.Engine, httpapi.Options{})
	s.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, openai.Prefix) {
			s.handler.ServeHTTP(w, r)
			return
		}
		native.ServeHTTP(w, r)
	})
	got := s.made(s.post(generations, fox(`,"n":2,"response_format":"url"`)))
	s.is.Equal(len(got.Data), 2)
	for _, d := range got.Data {
		s.is.Equal(len(d.B64), 0)
		s.is.True(strings.HasPrefix(d.URL, s.server.URL+"/images/"))
		s.decodes([]byte(s.do(http.MethodGet, strings.TrimPrefix(d.URL, s.server.URL), nil, "Authorization", "-").body),
			64, 48)
	}
	other := openai.NewHandler(s.Authenticate, openai.Options{BaseURL: "https://images.example/"})
	s.server.Config.Handler = other
	got = s.made(s.post(generations, fox(`,"response_format":"url"`)))
	s.is.True(strings.HasPrefix(got.Data[0].URL, "https://images.example/images/image_"))
}

// Fewer images than asked for cost what came.
func TestFewerImages(t *testing.T) {
	s := serve(t, openai.Options{})
	got := s.made(s.post(generations, `{"model":"fake-1","prompt":"[fake:images=2] a fox","size":"64x48","n":4}`))
	s.pictures(got, 2, 64, 48)
	s.is.Equal(got.Credits, imagegen.Credits(2))
	s.credits(98)
}

// The model can be left out where there is but one, and be called by an alias.
func TestModels(t *testing.T) {
	price := map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1}
	one := engine.Model{ID: "fake-1", Provider: &provider.Fake{}, Credits: price, Aliases: []string{"gpt-image-1"}}
	s := serve(t, openai.Options{}, func(c *engine.Config) { c.Models = []engine.Model{one} })
	s.pictures(s.made(s.post(generations, `{"prompt":"a fox","size":"64x48"}`)), 1, 64, 48)
	s.pictures(s.made(s.post(generations, `{"model":"gpt-image-1","prompt":"a fox","size":"64x48"}`)), 1, 64, 48)
	g, err := s.As(imagegentest.Alice).Generations(t.Context(), imagegen.Query{Limit: 1})
	s.is.NoErr(err)
	s.is.Equal(g.Generations[0].Model, "fake-1")
	s.is.Equal(s.do(http.MethodGet, "/v1/models", nil).body,
		`{"object":"list","data":[{"id":"fake-1","object":"model","created":0,"owned_by":"fake"},`+
			`{"id":"gpt-image-1","object":"model","created":0,"owned_by":"fake","alias_of":"fake-1"}]}`+"\n")
	s.is.Equal(s.do(http.MethodGet, "/v1/models/gpt-image-1", nil).body,
		`{"id":"gpt-image-1","object":"model","created":0,"owned_by":"fake","alias_of":"fake-1"}`+"\n")
	s.is.Equal(s.do(http.MethodHead, "/v1/models/fake-1", nil).StatusCode, http.StatusOK)
	s.refused(s.do(http.MethodGet, "/v1/models/dall-e-3", nil), http.StatusNotFound, imagegen.CodeNotFound, "")

	two := engine.Model{ID: "fake-2", Provider: &provider.Fake{}, Credits: price}
	s.is.NoErr(s.SetModels(t.Context(), []engine.Model{one, two}))
	message := s.refused(s.post(generations, `{"prompt":"a fox"}`), http.StatusBadRequest, imagegen.CodeInvalidRequest,
		"model")
	s.is.Equal(message, "model is required; offered: fake-1, gpt-image-1, fake-2")

	s.is.NoErr(s.SetModels(t.Context(), nil))
	for body, refusal := range map[string]string{
		`{"prompt":"a fox"}`:                  `model is required; offered: none at present`,
		`{"model":"fake-1","prompt":"a fox"}`: `unknown model "fake-1"; offered: none at present`,
	} {
		s.is.Equal(s.refused(s.post(generations, body), http.StatusBadRequest, imagegen.CodeInvalidRequest, "model"),
			refusal)
	}
}

func TestErrors(t *testing.T) {
	s := serve(t, openai.Options{})
	ask := func(prompt string, header ...string) answer {
		return s.post(generations, fmt.Sprintf(`{"model":"fake-1","prompt":%q,"size":"64x48"}`, prompt), header...)
	}
	lasting := ask("[fake:refuse]")
	s.refused(lasting, http.StatusBadRequest, imagegen.CodeGenerationFailed, "")
	s.is.Equal(lasting.Header.Get("X-Should-Retry"), "false")
	passing := ask("[fake:fail]")
	s.is.True(strings.HasPrefix(passing.Header.Get("Location"), s.server.URL+"/api/v1/generations/gen_"))
	passing = ask("[fake:transient=9]")
	s.refused(passing, http.StatusInternalServerError, imagegen.CodeGenerationFailed, "")
	s.is.Equal(passing.Header.Get("X-Should-Retry"), "false")
	s.is.Equal(ask("[fake:transient=9] again", "Idempotency-Key", "k").Header.Get("X-Should-Retry"), "")
	again := ask("[fake:transient=9] again", "Idempotency-Key", "k")
	s.refused(again, http.StatusInternalServerError, imagegen.CodeGenerationFailed, "")
	s.is.Equal(again.Header.Get("Idempotent-Replayed"), "true")
	s.refused(ask("a wolf", "Idempotency-Key", "k"), http.StatusUnprocessableEntity, imagegen.CodeIdempotencyKeyReused,
		"")
	s.credits(100)

	poor := s.post(generations, fox(""), "Authorization", "Bearer "+s.Key(t, "nobody"))
	s.refused(poor, http.StatusPaymentRequired, imagegen.CodeInsufficientCredits, "")
	for name, c := range map[string]struct {
		a      answer
		status int
		code   imagegen.Code
		allow  string
	}{
		"no key": {s.do(http.MethodGet, "/v1/models", nil, "Authorization", "-"), 401, imagegen.CodeMissingKey,
			""},
		"a wrong key": {s.do(http.MethodGet, "/v1/models", nil, "Authorization", "Bearer sk-123"), 401,
			imagegen.CodeInvalidKey, ""},
		"unknown path":   {s.do(http.MethodGet, "/v1/files", nil), 404, imagegen.CodeNotFound, ""},
		"the prefix":     {s.do(http.MethodGet, "/v1/", nil), 404, imagegen.CodeNotFound, ""},
		"a slash behind": {s.do(http.MethodGet, "/v1/models/", nil), 404, imagegen.CodeNotFound, ""},
		"variations":     {s.post("/v1/images/variations", ""), 404, imagegen.CodeNotFound, ""},
		"wrong method":   {s.do(http.MethodGet, generations, nil), 405, "methodNotAllowed", "POST, OPTIONS"},
		"HEAD":           {s.post("/v1/models", ""), 405, "methodNotAllowed", "GET, HEAD, OPTIONS"},
		"a form": {s.post(generations, "", "Content-Type", "multipart/form-data; boundary=b"), 400,
			imagegen.CodeInvalidRequest, ""},
		"no boundary": {s.post(edits, "", "Content-Type", "multipart/form-data"), 400, imagegen.CodeInvalidRequest,
			""},
		"no content type": {s.post(edits, "", "Content-Type", "-"), 400, imagegen.CodeInvalidRequest, ""},
		"a bad key": {s.post(generations, fox(""), "Idempotency-Key", "a b"), 400, imagegen.CodeInvalidRequest,
			""},
	} {
		t.Run(name, func(t *testing.T) {
			s.refused(c.a, c.status, c.code, "")
			s.is.Equal(c.a.Header.Get("Allow"), c.allow)
			s.is.Equal(c.a.Header.Get("WWW-Authenticate") != "", c.status == 401)
		})
	}
}

// Scripts of configured origins may send what OpenAI's client for browsers does.
func TestCORS(t *testing.T) {
	s := serve(t, openai.Options{CORSOrigins: []string{"https://app.example"}})
	const asked = "authorization,content-type,user-agent,x-stainless-lang,x-stainless-retry-count"
	a := s.do(http.MethodOptions, generations, nil, "Authorization", "-", "Origin", "https://app.example",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", asked)
	s.is.Equal(a.StatusCode, http.StatusNoContent)
	s.is.Equal(a.Header.Get("Access-Control-Allow-Methods"), "POST, OPTIONS")
	s.is.Equal(a.Header.Get("Access-Control-Allow-Headers"), asked)
	s.is.Equal(s.post(generations, fox(""), "Origin", "https://app.example").Header.Get("Access-Control-Allow-Origin"),
		"https://app.example")
}
