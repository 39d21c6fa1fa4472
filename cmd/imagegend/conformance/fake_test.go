package conformance_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const fakeLine = "contract: Draws a real, pleasant, deterministic PNG"

var fakeChecks = []check{
	{name: "what the fake provider draws", lines: []string{fakeLine},
		elsewhere: []string{"imagegen/provider/internal/fakeimage.TestSamePictureSameBytes",
			"imagegen/provider/internal/fakeimage.TestWordsDecide",
			"imagegen/provider/internal/fakeimage.TestAnySize"}},
	{
		name:      "what the fake provider receives",
		lines:     []string{fakeLine},
		elsewhere: []string{"imagegen/provider.TestDirectives", "imagegen/provider.TestScriptReplacesDirectives"},
	},
	{name: "a crash", lines: []string{fakeLine}, daemon: checkCrash},
}

func checkCrash(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Dev: true})
	key := devKey(t, d)
	_, err := d.Do(t.Context(), daemontest.Generate(key, fox(object{"prompt": "[fake:crash]"})))
	is.True(err != nil) // there is nobody to answer
	is.Equal(d.Wait(10*time.Second), -1)
}
