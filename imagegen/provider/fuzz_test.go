package provider_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// script is an upstream that gives the answers of a script, whatever it is asked. Soon after the
// last the call is given up: some adapters would ask again for minutes.
type script struct {
	mu      sync.Mutex
	answers []string
	status  int // of the last
	giveUp  func()
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answer := s.answers[0]
	if strings.HasPrefix(answer, "{") {
		w.Header().Set("Content-Type", "application/json")
	} else {
		w.Header().Set("Content-Type", "image/png")
	}
	if s.answers = s.answers[1:]; len(s.answers) == 0 {
		time.AfterFunc(50*time.Millisecond, s.giveUp)
		w.WriteHeader(s.status)
	}
	io.WriteString(w, answer)
}

func (s *script) begin(answers []string, status int, giveUp func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers, s.status, s.giveUp = answers, status, giveUp
}

const memory = 16 << 20

// For every answer of an upstream, each image that an adapter yields is as the upstream sent it or
// breaks off with an error, and the call ends with an error that has a class, in bounded memory.
// Answers are separated by lines of three dashes; {url} is where the upstream is.
func FuzzUpstreamAnswers(f *testing.F) {
	s := &script{}
	server := httptest.NewServer(s)
	f.Cleanup(server.Close)
	names := slices.Sorted(maps.Keys(upstreams))
	providers := make([]imagegen.Provider, len(names))
	for i, name := range names {
		var err error
		providers[i], err = upstreams[name].open(server.URL)
		is.New(f).NoErr(err)
	}
	f.Fuzz(func(t *testing.T, which uint8, status uint16, text string) {
		if status < 200 || status > 599 {
			return // the server cannot send it
		}
		p := providers[int(which)%len(providers)]
		text = strings.ReplaceAll(text, "{url}", server.URL)
		answers := strings.Split(text, "\n---\n")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.begin(answers, int(status), cancel)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i, err := range p.Generate(ctx, imagegen.ProviderRequest{Key: "k", Prompt: "a fox", N: 1, Ratio: "1:1",
			Tier: imagegen.Tier1K, Quality: imagegen.QualityAuto, SaveJob: func(context.Context, []byte) error {
				return nil
			}, Used: func(u imagegen.UpstreamUsage) {
				if min(u.TextInput, u.ImageInput, u.TextOutput, u.ImageOutput, int64(u.Units), int64(u.Time)) < 0 {
					t.Errorf("%s: %+v was used", p.Name(), u)
				}
			}}) {
			if err != nil {
				classified(t, ctx, p, err)
				continue
			}
			if b, err := io.ReadAll(i.Body); err == nil && !sent(answers, b) {
				t.Errorf("%s: an image %q came of %q", p.Name(), b, answers)
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > memory+64*uint64(len(text)) {
			t.Errorf("%s took %d bytes for %d", p.Name(), n, len(text))
		}
	})
}

func classified(t *testing.T, ctx context.Context, p imagegen.Provider, err error) {
	t.Helper()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	if e, ok := errors.AsType[*imagegen.ProviderError](err); !ok || e.Class > imagegen.ClassBlocked {
		t.Errorf("%s: %v has no class", p.Name(), err)
	}
}

// sent reports whether an image is one of the answers, or stands in one as a whole base64 string.
func sent(answers []string, image []byte) bool {
	if slices.Contains(answers, string(image)) {
		return true
	}
	const quantum = 4 // the last may be padded, or have bits that do not count
	encoded := base64.StdEncoding.EncodeToString(image)
	for _, a := range answers {
		if len(image) == 0 || strings.Contains(a, `\`) { // nothing to look for; not as it stands there
			return true
		}
		a = strings.NewReplacer("\r", "", "\n", "").Replace(a)
		for at := range len(a) {
			rest, found := strings.CutPrefix(a[at:], encoded[:len(encoded)-quantum])
			if found && strings.IndexByte(rest, '"') == quantum {
				return true
			}
		}
	}
	return false
}
