package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"

	"github.com/matryer/is"
)

// countedSpool knows what lies in a spool.
type countedSpool struct {
	imagegen.Spool
	mu   sync.Mutex
	held map[imagegen.ReferenceID]bool
	most int
}

func (s *countedSpool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	err := s.Spool.Stage(ctx, id, r)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held[id] = true
		s.most = max(s.most, len(s.held))
	}
	return err
}

func (s *countedSpool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.held, id)
	}
	return s.Spool.Remove(ctx, ids...)
}

// counting puts a countedSpool before the storage's own.
func counting(s *countedSpool) func(*engine.Config) {
	return func(c *engine.Config) {
		s.Spool, s.held = c.Store.(imagegen.Spool), map[imagegen.ReferenceID]bool{}
		c.Spool = s
	}
}

// Whatever is wrong with a form, and whenever it shows, none of its files is left behind.
func TestNothingIsLeftInTheSpool(t *testing.T) {
	var spool countedSpool
	s := serve(t, httpapi.Options{}, counting(&spool))
	good := part{name: "image", file: "a.png", value: picture(30, 30)}
	contentType, whole := formOf(append([]part{good, good}, foxForm()...)...)
	poor := "Bearer " + s.Key(t, "nobody")
	for name, ask := range map[string]func() answer{
		"a field after the files": func() answer { return s.postForm(good, good, part{name: "cfg_scale", value: "7"}) },
		"a field missing":         func() answer { return s.postForm(good, good) },
		"a bad file":              func() answer { return s.postForm(good, good, part{name: "image", file: "b", value: "x"}) },
		"cut short": func() answer {
			return s.post(whole[:strings.LastIndex(whole, "fox")], "Content-Type", contentType)
		},
		"too poor": func() answer { return s.post(whole, "Content-Type", contentType, "Authorization", poor) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			spool.most = 0
			is.True(ask().StatusCode >= http.StatusBadRequest)
			spool.mu.Lock()
			defer spool.mu.Unlock()
			is.True(spool.most >= 2 || name == "too poor" && spool.most == 0)
			is.Equal(len(spool.held), 0)
		})
	}
}
