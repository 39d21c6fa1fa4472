package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// moody is a provider of tier 1K that works as its mood has it: a picture is blank, and drawn once.
type moody struct {
	mood     uint8
	attempts int
}

// blanks are pictures by their sizes.
var blanks sync.Map

func (m *moody) Name() string { return "moody" }
func (m *moody) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{Tiers: []imagegen.Tier{imagegen.Tier1K}}
}

func (m *moody) Generate(_ context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		m.attempts++
		n, err := m.outcome(r.N)
		for range n {
			if !yield(imagegen.ProviderImage{Body: m.picture(r)}, nil) {
				return
			}
		}
		if err != nil {
			yield(imagegen.ProviderImage{}, err)
		}
	}
}

// outcome is how many images come, and what ends the call.
func (m *moody) outcome(n int) (int, error) {
	switch m.mood % 7 {
	case 1:
		return n - 1, nil
	case 2:
		if m.attempts == 1 {
			return 0, &imagegen.ProviderError{Class: imagegen.ClassUnavailable}
		}
	case 3:
		return 1, &imagegen.ProviderError{Class: imagegen.ClassRefused}
	case 4:
		return 0, errors.New("secret trouble upstream")
	case 5:
		panic("secret trouble upstream")
	case 6:
		return n + 1, nil
	}
	return n, nil
}

func (m *moody) picture(r imagegen.ProviderRequest) io.Reader {
	z := r.Size
	if z.Auto() {
		z = imagegen.SizeFor(r.Ratio, r.Tier)
	}
	b, ok := blanks.Load(z)
	if !ok {
		b, _ = blanks.LoadOrStore(z, picture(z.Width, z.Height))
	}
	return strings.NewReader(b.(string))
}

// Whatever is asked for, and whatever the provider does, the answer is a documented one, it is the
// same when the request is repeated, and the books add up.
func FuzzRequests(f *testing.F) {
	f.Fuzz(func(t *testing.T, body string, mood uint8, poor bool) {
		synctest.Test(t, func(t *testing.T) {
			e := imagegentest.Start(t, withProvider(&moody{mood: mood}))
			user, granted := imagegentest.Alice, imagegen.Credits(100)
			if poor {
				user, granted = imagegentest.Bob, 3
			}
			h := httpapi.NewHandler(e.Engine, httpapi.Options{})
			header := http.Header{"Authorization": {"Bearer " + e.Key(t, user)}, "Content-Type": {"application/json"},
				"Idempotency-Key": {"again"}}
			first := request(t, h, http.MethodPost, generations, strings.NewReader(body), header)
			time.Sleep(time.Hour) // virtual; asynchronous work ends
			again := request(t, h, http.MethodPost, generations, strings.NewReader(body), header)

			is := is.New(t)
			is.Equal(again.Code, first.Code)
			is.Equal(again.Body.String(), first.Body.String())
			recorded := documented(t, first.Code, first.Body.Bytes())
			is.Equal(again.Header().Get("Idempotent-Replayed") == "true", recorded)
			addsUp(t, e, user, granted, recorded)
		})
	})
}

// documented checks an answer to a request for images, and tells whether a generation was recorded.
func documented(t *testing.T, status int, body []byte) (recorded bool) {
	t.Helper()
	var a struct {
		Error struct{ Code imagegen.Code }
	}
	if err := json.Unmarshal(body, &a); err != nil || strings.Contains(string(body), "secret") {
		t.Errorf("%d %s: %v", status, body, err)
	}
	switch code := a.Error.Code; {
	case status == http.StatusOK && code == "", status == http.StatusAccepted && code == "":
		return true
	case status == http.StatusInternalServerError && code == imagegen.CodeGenerationFailed:
		return true
	case status == http.StatusBadRequest && code == imagegen.CodeInvalidRequest:
	case status == http.StatusPaymentRequired && code == imagegen.CodeInsufficientCredits:
	default:
		t.Errorf("%d %s", status, body)
	}
	return false
}

// addsUp checks that what is gone from the balance was spent on images that are there.
func addsUp(t *testing.T, e imagegentest.Running, user imagegen.UserID, granted imagegen.Credits, recorded bool) {
	t.Helper()
	is, s := is.New(t), e.As(user)
	p, err := s.Generations(t.Context(), imagegen.Query{})
	is.NoErr(err)
	is.Equal(len(p.Generations) == 1, recorded)
	for _, g := range p.Generations {
		is.True(g.Status.Terminal())
		is.Equal(g.Credits, imagegen.Credits(len(g.Images))) // at one credit each
		is.True(len(g.Images) <= g.N)
		granted -= g.Credits
	}
	b, err := s.Balance(t.Context())
	is.NoErr(err)
	is.Equal(b.Credits, granted)
	report, err := e.DB.Audit(t.Context())
	is.NoErr(err)
	is.Equal(len(report.Violations), 0)
}
