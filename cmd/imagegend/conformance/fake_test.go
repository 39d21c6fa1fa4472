package conformance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const fakeLine = "contract: Draws a real, pleasant, deterministic PNG"

var fakeChecks = []check{
	{name: "what the fake provider draws", lines: []string{fakeLine}, run: checkDrawing},
	{
		name:      "what the fake provider is told",
		lines:     []string{fakeLine},
		run:       checkDirectives,
		elsewhere: []string{"imagegen/provider.TestDirectives", "imagegen/provider.TestScriptReplacesDirectives"},
	},
	{name: "a crash", lines: []string{fakeLine}, daemon: checkCrash},
}

func checkDrawing(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 20)
	draw := func(fields object) string {
		t.Helper()
		return s.call(t, request{address: images(a.generated(t, fields))[0]}).is(t, http.StatusOK).has(t, "Content-Type", "image/png").header.Get("ETag")
	}
	fox := draw(nil)
	is.Equal(draw(nil), fox)
	is.Equal(draw(object{"quality": "high"}), fox)
	is.True(draw(object{"prompt": "a lighthouse at night"}) != fox)
	is.True(draw(object{"size": "64x47"}) != fox)
	colours := map[any]bool{}
	picture := s.image(t, images(a.generated(t, object{"size": "256x192"}))[0])
	for x := range 256 {
		for y := range 192 {
			colours[picture.At(x, y)] = true
		}
	}
	is.True(len(colours) > 100) // it is a picture
}

func checkDirectives(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 20)
	began := time.Now()
	a.generated(t, object{"prompt": "[fake:delay=2s] a fox", "n": 3})
	took := time.Since(began)
	is.True(took >= 2*time.Second && took < 6*time.Second) // once a call, not once an image
	for _, wrong := range []string{
		"[fake:nonsense]", "[fake:]", "[fake:fail", "[fake:images]", "[fake:images=0]", "[fake:images=x]", "[fake:transient]",
		"[fake:delay=3]", "[fake:each=0s]", "[fake:fail=1]", "[fake:fail] [fake:refuse]", "[fake:delay=1s] [fake:delay=1s]",
		"[fake:crash]", // only with --dev
	} {
		a.post(t, fox(object{"prompt": wrong})).refused(t, http.StatusBadRequest, "invalid_request", "[fake:")
	}
	same(t, a.credits(t), 17)
}

func checkCrash(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Dev: true})
	key := devKey(t, d)
	_, err := d.Do(t.Context(), daemontest.Generate(key, fox(object{"prompt": "[fake:crash]"})))
	is.True(err != nil) // there is nobody to answer
	is.Equal(d.Wait(10*time.Second), -1)
}
