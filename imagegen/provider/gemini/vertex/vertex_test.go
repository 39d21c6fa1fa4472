package vertex_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/gemini"
	"github.com/imagegend/imagegend/imagegen/provider/gemini/internal/geminitest"
	"github.com/imagegend/imagegend/imagegen/provider/gemini/vertex"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

const (
	email  = "painter@my-project.iam.gserviceaccount.com"
	models = "/v1/projects/my-project/locations/global/publishers/google/models/gemini-3-pro-image"
)

var key = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// cloud is a stand-in for Google Cloud: its token endpoint, as golang.org/x/oauth2/jwt asks it, and Vertex AI's paths,
// as googleapis/go-genai builds them. What is behind those is the Gemini API's stand-in.
type cloud struct {
	gemini geminitest.Server
	url    string
	refuse atomic.Bool // the account was disabled
	tokens atomic.Int64
	models http.Handler // answers in the place of gemini, unless nil
}

func start(t *testing.T) *cloud {
	c := &cloud{}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "POST /token":
		c.token(w, r)
	case "POST " + models + ":generateContent", "POST " + models + ":countTokens":
		c.model(w, r)
	default:
		upstreamtest.Answer(w, http.StatusNotFound, map[string]any{"error": map[string]any{"code": 404,
			"status": "NOT_FOUND", "message": r.URL.Path}})
	}
}

func (c *cloud) token(w http.ResponseWriter, r *http.Request) {
	if err := c.check(r); err != nil || c.refuse.Load() {
		upstreamtest.Answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant",
			"error_description": fmt.Sprint("Invalid JWT Signature. ", err)})
		return
	}
	upstreamtest.Answer(w, http.StatusOK, map[string]any{"access_token": fmt.Sprintf("ya29.token-%d", c.tokens.Add(1)),
		"expires_in": 3599, "token_type": "Bearer"})
}

// check is what the endpoint looks at: the grant, and the assertion's signature and claims.
func (c *cloud) check(r *http.Request) error {
	if err := r.ParseForm(); err != nil || len(r.PostForm) != 2 ||
		r.PostForm.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		return fmt.Errorf("no grant: %v", r.PostForm)
	}
	parts := strings.Split(r.PostForm.Get("assertion"), ".")
	if len(parts) != 3 {
		return errors.New("no JWT")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&key().PublicKey, crypto.SHA256, sum[:], signature); err != nil {
		return err
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return err
	}
	var claims struct {
		Iss, Scope, Aud string
		Iat, Exp        int64
	}
	if err := json.Unmarshal(raw, &claims); err != nil {
		return err
	}
	if claims.Iss != email || claims.Aud != c.url+"/token" || claims.Exp-claims.Iat > 3600 || claims.Exp < time.Now().
		Unix() ||
		claims.Scope != "https://www.googleapis.com/auth/cloud-platform" {
		return fmt.Errorf("claims %+v", claims)
	}
	return nil
}

func (c *cloud) model(w http.ResponseWriter, r *http.Request) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ya29.token-")
	if !ok || token != fmt.Sprint(c.tokens.Load()) || r.Header.Get("X-Goog-Api-Key") != "" {
		upstreamtest.Answer(w, http.StatusUnauthorized, map[string]any{"error": map[string]any{"code": 401,
			"status": "UNAUTHENTICATED", "message": "token " + r.Header.Get("Authorization")}})
		return
	}
	if c.models != nil {
		c.models.ServeHTTP(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, ":countTokens") {
		upstreamtest.Answer(w, http.StatusOK, map[string]any{"totalTokens": 1})
		return
	}
	inner := r.Clone(r.Context())
	inner.URL.Path = "/v1beta/models/gemini-3-pro-image:generateContent"
	inner.Header.Set("X-Goog-Api-Key", geminitest.Key)
	c.gemini.ServeHTTP(w, inner)
}

// account is a key file as Google Cloud hands it out.
func account(tokenURI string) imagegen.Secret {
	der, _ := x509.MarshalPKCS8PrivateKey(key()) // of a key that was made just now
	raw, _ := json.Marshal(map[string]any{"type": "service_account", "project_id": "my-project",
		"private_key_id": "abc", "client_email": email, "client_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURI})
	return imagegen.Secret(raw)
}

func serve(t *testing.T, c *cloud) *gemini.Provider {
	t.Helper()
	p, err := vertex.New(vertex.Config{ServiceAccount: account(c.url + "/token"),
		Config: gemini.Config{BaseURL: strings.TrimSuffix(c.url+models, "/models/gemini-3-pro-image"), Private: true}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProvider(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider { return serve(t, start(t)) },
		Answering: func(t *testing.T, h http.Handler) imagegen.Provider {
			c := start(t)
			p := serve(t, c)
			c.models = h
			return p
		},
		Endless: geminitest.Endless,
		Sample:  true,
	})
}

func ask(t *testing.T, p imagegen.Provider, n int) (sizes []imagegen.Size, ended error) {
	return providertest.Collect(t.Context(), p, providertest.Request("a fox", n))
}

// One token serves all calls until it expires.
func TestTokens(t *testing.T) {
	is := is.New(t)
	c := start(t)
	p := serve(t, c)
	is.Equal(p.Name(), "vertex")
	is.NoErr(p.Probe(t.Context()))
	for range 2 {
		sizes, err := ask(t, p, 4)
		is.NoErr(err)
		is.Equal(sizes, slices.Repeat([]imagegen.Size{{Width: 1024, Height: 1024}}, 4))
	}
	is.Equal(c.tokens.Load(), int64(1))
}

// Answers say what they have used in the same words as those of the Gemini API.
func TestUsed(t *testing.T) {
	is := is.New(t)
	r := providertest.Request("a fox", 1)
	used := providertest.Used(&r)
	_, err := providertest.Collect(t.Context(), serve(t, start(t)), r)
	is.NoErr(err)
	is.Equal(used(), imagegen.UpstreamUsage{TextInput: 8, ImageInput: 560, TextOutput: 230, ImageOutput: 1120})
}

// Without a token nothing is asked for, so that another upstream may be.
func TestWithoutAToken(t *testing.T) {
	is := is.New(t)
	c := start(t)
	c.refuse.Store(true)
	_, err := ask(t, serve(t, c), 2)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassBlocked)
	is.True(strings.Contains(err.Error(), "Google refused the service account") &&
		strings.Contains(err.Error(), "invalid_grant"))
	is.Equal(len(c.gemini.Requests()), 0)

	p, err := vertex.New(vertex.Config{ServiceAccount: account("http://127.0.0.1:1/token"),
		Config: gemini.Config{BaseURL: c.url, Private: true}})
	is.NoErr(err)
	_, err = ask(t, p, 1)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnavailable)
}

// A token that Vertex AI does not take, and repeats, is reported and not shown.
func TestTokenThatIsRefused(t *testing.T) {
	is := is.New(t)
	c := start(t)
	p := serve(t, c)
	is.NoErr(p.Probe(t.Context()))
	c.tokens.Add(1) // it is not the one that was given
	_, err := ask(t, p, 1)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassBlocked)
	is.True(!strings.Contains(err.Error(), "ya29.token-1"))
}

func TestCallsEndWithTheirContext(t *testing.T) {
	is := is.New(t)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
	}))
	t.Cleanup(s.CloseClientConnections)
	p, err := vertex.New(vertex.Config{ServiceAccount: account(s.URL), Config: gemini.Config{BaseURL: s.URL,
		Private: true}})
	is.NoErr(err)
	late := errors.New("the time is up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, late)
	defer cancel()
	is.True(errors.Is(p.Probe(ctx), late))
}

func TestNewRefuses(t *testing.T) {
	for says, c := range map[string]vertex.Config{
		"not the key file of a service account": {ServiceAccount: "{}"},
		"not an https address":                  {ServiceAccount: account("http://oauth2.example.com/token")},
		"the option Project": {ServiceAccount: account("https://oauth2.googleapis.com/token"),
			Project: "../x"},
		"Location": {ServiceAccount: account("https://oauth2.googleapis.com/token"),
			Location: "eu/west"},
		"MaxReferences": {ServiceAccount: account("https://oauth2.googleapis.com/token"),
			Config: gemini.Config{MaxReferences: 99}},
	} {
		t.Run(says, func(t *testing.T) {
			_, err := vertex.New(c)
			is.New(t).True(err != nil && strings.Contains(err.Error(), says))
			is.New(t).True(!strings.Contains(err.Error(), "PRIVATE KEY"))
		})
	}
	p, err := vertex.New(vertex.Config{ServiceAccount: account("https://oauth2.googleapis.com/token"),
		Location: "europe-west4"})
	is.New(t).NoErr(err)
	is.New(t).Equal(p.Name(), "vertex")
}
