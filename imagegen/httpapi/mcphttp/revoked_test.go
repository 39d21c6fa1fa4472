package mcphttp_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/mcphttp"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// A body that takes a second or more ends with a look at the key, in every interface and whatever it asks for: a key
// that was revoked meanwhile gets nothing and does nothing. ID stands for a generation that waits.
func TestKeyThatIsRevokedWhileTheBodyComes(t *testing.T) {
	const (
		inJSON = "application/json"
		inForm = "multipart/form-data; boundary=b"
		fox    = `{"model":"fake-1","prompt":"a fox","size":"64x48"}`
		native = "/api/v1/images/generations"
	)
	image := base64.StdEncoding.EncodeToString(imagegentest.PNG(30, 30))
	field := func(name, value string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	form := field("model", "fake-1") + field("prompt", "a fox") + field("size", "64x48") +
		field(`image"; filename="a.png`, string(imagegentest.PNG(30, 30))) + "--b--"
	tool := func(name, arguments string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name,
			arguments)
	}
	for name, request := range map[string]struct{ path, contentType, body string }{
		"generation":               {native, inJSON, fox},
		"generation without sense": {native, inJSON, strings.Replace(fox, "64x48", "none", 1)},
		"generation by a form":     {native, inForm, form},
		"quote":                    {"/api/v1/images/quote", inJSON, fox},
		"cancellation":             {"/api/v1/generations/ID/cancel", inJSON, "{}"},
		"OpenAI's generation":      {"/v1/images/generations", inJSON, fox},
		"OpenAI's edit": {"/v1/images/edits", inJSON, strings.Replace(fox, "}",
			`,"images":[{"image_url":"data:image/png;base64,`+image+`"}]}`, 1)},
		"OpenAI's edit by a form": {"/v1/images/edits", inForm, form},
		"an agent's generation":   {mcphttp.Path, inJSON, tool("generate_image", `{"prompt":"a fox"}`)},
		"an agent's list":         {mcphttp.Path, inJSON, tool("list_generations", `{}`)},
		"an agent's quote":        {mcphttp.Path, inJSON, tool("quote", `{"prompt":"a fox"}`)},
		"an agent's listing":      {mcphttp.Path, inJSON, listTools},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				s := imagegentest.Start(t, func(c *engine.Config) { c.Limits.Concurrency = 1 })
				mux := http.NewServeMux()
				mux.Handle(mcphttp.Path, mcphttp.NewHandler(s.Engine, mcphttp.Options{}))
				mux.Handle(openai.Prefix, openai.NewHandler(s.Authenticate, openai.Options{}))
				mux.Handle("/", httpapi.NewHandler(s.Engine, httpapi.Options{}))
				dial := imagegentest.Piped(t, httpapi.NewServer(mux))
				for _, u := range []imagegen.UserID{imagegentest.Bob, imagegentest.Alice} { // hers waits for his
					_, err := s.As(u).Generate(t.Context(), imagegen.GenerateRequest{Async: true,
						Model: imagegentest.Model, Prompt: "[fake:delay=1m] a secret",
						Size: imagegen.Size{Width: 64, Height: 48}})
					is.NoErr(err)
					synctest.Wait()
				}
				before, err := s.As(imagegentest.Alice).Generations(t.Context(), imagegen.Query{})
				is.NoErr(err)
				raw, key, err := s.Accounts().MintKey(t.Context(), imagegentest.Alice, "k", time.Time{})
				is.NoErr(err)

				c := dial()
				path := strings.Replace(request.path, "ID", string(before.Generations[0].ID), 1)
				last := len(request.body) - 1
				_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n"+
					"Content-Length: %d\r\n\r\n%s", path, raw.Reveal(), request.contentType, last+1,
					request.body[:last])
				is.NoErr(err)
				synctest.Wait()
				_, err = s.Accounts().RevokeKey(t.Context(), key.ID)
				is.NoErr(err)
				time.Sleep(time.Second)
				_, err = io.WriteString(c, request.body[last:])
				is.NoErr(err)
				a, err := http.ReadResponse(bufio.NewReader(c), nil)
				is.NoErr(err)
				body, err := io.ReadAll(a.Body)
				is.NoErr(err)
				if a.StatusCode != http.StatusUnauthorized || !strings.Contains(string(body), `"invalidApiKey"`) {
					t.Errorf("got %s %s", a.Status, body)
				}
				after, err := s.As(imagegentest.Alice).Generations(t.Context(), imagegen.Query{})
				is.NoErr(err)
				is.Equal(len(after.Generations), 1)
				is.Equal(after.Generations[0].Status, imagegen.StatusQueued)
			})
		})
	}
}

// A body that comes at once costs no second look at the key.
func TestOneLookAtTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := imagegentest.Start(t)
		looks := 0
		h := openai.NewHandler(func(ctx context.Context, key string) (*engine.Session, error) {
			looks++
			return s.Authenticate(ctx, key)
		}, openai.Options{})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/images/generations",
			strings.NewReader(`{"model":"fake-1","prompt":"a fox","size":"64x48"}`))
		r.Header.Set("Authorization", "Bearer "+s.Key(t, imagegentest.Alice))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		is.Equal(w.Code, http.StatusOK)
		is.Equal(looks, 1)
	})
}
