package daemon_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
)

// A drain goes on serving reads for five seconds after the last synchronous answer, and no longer.
func TestLinger(t *testing.T) {
	type call struct {
		method       string
		status       int
		begins, for_ time.Duration // seen from the beginning of the drain
	}
	for name, test := range map[string]struct {
		calls []call
		want  time.Duration
	}{
		"nothing was asked":          {nil, 0},
		"answered just now":          {[]call{{"POST", 200, -time.Second, time.Second}}, 5 * time.Second},
		"a failure counts as well":   {[]call{{"POST", 500, -time.Second, time.Second}}, 5 * time.Second},
		"answered a while ago":       {[]call{{"POST", 200, -4 * time.Second, time.Second}}, 2 * time.Second},
		"answered long ago":          {[]call{{"POST", 200, -time.Hour, time.Second}}, 0},
		"the answer is yet to leave": {[]call{{"POST", 200, -time.Second, 3 * time.Second}}, 7 * time.Second},
		"of several the last": {[]call{{"POST", 200, -time.Second, 3 * time.Second},
			{"POST", 200, -time.Second, time.Second}}, 7 * time.Second},
		"an answer that does not leave": {[]call{{"POST", 200, -time.Second, time.Hour}}, 5 * time.Second},
		"accepted, for later":           {[]call{{"POST", 202, -time.Second, time.Second}}, 0},
		"refused":                       {[]call{{"POST", 402, -time.Second, time.Second}}, 0},
		"a read":                        {[]call{{"GET", 200, -time.Second, time.Second}}, 0},
		"what begins in a drain is none": {[]call{{"POST", 200, -time.Second, 3 * time.Second},
			{"POST", 200, time.Second, 2 * time.Second}}, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				a := daemon.NewAnswers()
				began := time.Now().Add(2 * time.Hour)
				for _, c := range test.calls {
					h := a.Watch(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						time.Sleep(c.for_)
						w.WriteHeader(c.status)
					}))
					go func() {
						time.Sleep(time.Until(began.Add(c.begins)))
						h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c.method, "/", nil))
					}()
				}
				time.Sleep(time.Until(began))
				synctest.Wait()
				is.Equal(a.Drain(), test.want)
				time.Sleep(2 * time.Hour)
			})
		})
	}
}
