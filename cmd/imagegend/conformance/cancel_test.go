package conformance_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

const (
	cancelLine = "contract: | `POST /api/v1/generations/:id/cancel` |"
	shownLine  = "contract: | an image before the end |"
)

var beforeTheEndChecks = []check{
	{name: "images before the end", lines: []string{shownLine}, run: checkImagesBeforeTheEnd,
		elsewhere: []string{"imagegen.TestShow", "imagegen/engine.TestShownImagesAfterACrash", "imagegen/engine.TestShownImagesAreKeptByADrain"}},
	{name: "cancelling", lines: []string{cancelLine}, run: checkCancel,
		elsewhere: []string{"imagegen/engine.TestCancel", "imagegen/engine.TestCancelRaces"}},
}

func checkImagesBeforeTheEnd(t *testing.T, s *service) {
	a := s.account(t, 10)
	id := a.queued(t, object{"n": 2, "prompt": "[fake:each=3s] a fox"})["id"]
	var shown []any
	for began := time.Now(); len(shown) == 0 && time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		g := a.generation(t, id)
		shown = g["images"].([]any)
		if len(shown) > 0 {
			same(t, []any{g["status"], len(shown)}, []any{"processing", 1})
			same(t, g["usage"], object{"credits": 0, "credits_requested": 2})
			s.image(t, shown[0].(object)["url"])
		}
	}
	done := a.ended(t, id)
	same(t, len(done["images"].([]any)), 2)
	same(t, done["images"].([]any)[0], shown[0])
	same(t, a.credits(t), 8)
}

func checkCancel(t *testing.T, s *service) {
	a, other := s.account(t, 10), s.account(t, 10)
	id := a.queued(t, object{"n": 2, "prompt": "[fake:transient=2] a fox"})["id"].(string)
	path := "/api/v1/generations/" + id + "/cancel"
	cancel := func(c *customer, body string) answer {
		return s.call(t, request{method: http.MethodPost, address: path, key: c.key, body: strings.NewReader(body)})
	}
	cancel(other, "").refused(t, http.StatusNotFound, "notFound")
	cancel(a, `{"reason":"none"}`).refused(t, http.StatusBadRequest, "invalid_request", "body")
	got := cancel(a, "")
	for began := time.Now(); got.status == http.StatusConflict && time.Since(began) < time.Minute; got = cancel(a, "") { // an attempt was under way
		got.refused(t, http.StatusConflict, "notCancellable", "late")
		time.Sleep(10 * time.Millisecond)
	}
	for _, body := range []string{"", "{}"} {
		g := got.is(t, http.StatusOK).object(t)
		same(t, []any{g["status"], g["error"].(object)["code"], g["images"]}, []any{"failed", "cancelled", []any{}})
		same(t, a.credits(t), 10)
		got = cancel(a, body)
	}
	ended := a.generated(t, nil)["id"].(string)
	path = "/api/v1/generations/" + ended + "/cancel"
	cancel(a, "").refused(t, http.StatusConflict, "notCancellable", "late")
	is.New(t).Equal(s.call(t, request{address: path, key: a.key}).status, http.StatusMethodNotAllowed)
}
