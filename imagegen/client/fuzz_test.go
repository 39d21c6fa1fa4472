package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client"
)

// Whatever a server answers, a call ends with a value that this service can have sent, or with an
// error that has a code.
func FuzzAnswers(f *testing.F) {
	f.Fuzz(func(t *testing.T, status uint16, retryAfter, location, body string) {
		c, err := client.New("https://images.example.com", "",
			&client.Options{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
				return &http.Response{StatusCode: int(status), Header: http.Header{"Retry-After": {retryAfter},
					"Location": {location}},
					Body: io.NopCloser(strings.NewReader(body)), Request: r}
			})}})
		is.New(t).NoErr(err)
		for name, call := range calls {
			switch object, err := call(t.Context(), c); {
			case err != nil:
				intelligible(t, name, err, retryAfter)
			case status >= 300:
				t.Errorf("%s: %d %q is taken for success", name, status, body)
			case !strings.Contains(body, object) && !strings.Contains(body, `\u`):
				t.Errorf("%s: %q is taken for one", name, body)
			}
		}
	})
}

// intelligible checks that an error has a code, and says to wait as long as the server said.
func intelligible(t *testing.T, name string, err error, retryAfter string) {
	t.Helper()
	e, ok := errors.AsType[*imagegen.Error](err)
	if !ok || e.Code == "" {
		t.Errorf("%s: %v", name, err)
		return
	}
	seconds := strconv.Itoa(int(e.RetryAfter / time.Second))
	if e.RetryAfter != 0 && seconds != strings.TrimLeft(retryAfter, "+0") {
		t.Errorf("%s: %q became %v", name, retryAfter, e.RetryAfter)
	}
}

// calls are those of a service, each with what an answer to it calls itself.
var calls = map[string]func(context.Context, *client.Client) (object string, err error){
	"models": func(ctx context.Context, c *client.Client) (string, error) {
		_, err := c.Models(ctx)
		return "list", err
	},
	"balance": func(ctx context.Context, c *client.Client) (string, error) {
		_, err := c.Balance(ctx)
		return "balance", err
	},
	"generate": func(ctx context.Context, c *client.Client) (string, error) {
		_, err := c.Generate(ctx, imagegen.GenerateRequest{Model: "m", Prompt: "a fox"})
		return "image_generation", err
	},
	"generation": func(ctx context.Context, c *client.Client) (string, error) {
		_, err := c.Generation(ctx, "gen_1")
		return "image_generation", err
	},
	"generations": func(ctx context.Context, c *client.Client) (string, error) {
		_, err := c.Generations(ctx, imagegen.Query{})
		return "list", err
	},
}
