package upstreams_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// A daemon that is killed while it waits for an upstream's tasks takes them up again: each is
// submitted, and paid for, once.
func TestKilledInMidPoll(t *testing.T) {
	const images, granted = 2, 10
	for name, c := range map[string]struct {
		routes   func(*tasks) routes
		provider string // ADDRESS is where the stand-in is
	}{
		"bfl": {(*tasks).bfl, `{type: bfl, base_url: ADDRESS/v1, private: true, poll_interval: 10ms}`},
		"replicate": {(*tasks).replicate,
			`{type: replicate, base_url: ADDRESS/v1, private: true, poll_interval: 10ms, model: acme/fox, input: {prompt: "{{prompt}}"}, sizes: [1024x1024]}`},
		"fal": {(*tasks).fal,
			`{type: fal, base_url: ADDRESS, private: true, poll_interval: 10ms, model: acme/fox, sizes: [1024x1024]}`},
		"comfyui": {(*tasks).comfyui, `{type: comfyui, base_url: ADDRESS, workflows: [fox.json]}` +
			"\n    metadata: keep"},
		"router": {(*tasks).bfl,
			`{type: router, members: [{provider: {type: bfl, base_url: ADDRESS/v1, private: true, poll_interval: 10ms}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			upstream := &tasks{}
			address := serve(t, handler(c.routes(upstream)))
			models := modelsFile(t, map[string]string{"fox-1": strings.ReplaceAll(c.provider, "ADDRESS", address)},
				map[string]string{"fox.json": workflow})
			o := daemontest.Options{DataDir: t.TempDir(), Args: []string{"--models", models}}
			d := daemontest.Start(t, o)
			_, key := d.NewUser(granted)
			g := queue(t, d, key, "fox-1", images)
			askedAbout := func() bool { return upstream.unasked(images) == 0 }
			daemontest.Eventually(t, limit, "all tasks are asked about", askedAbout)
			d.Kill()

			upstream.forgetPolls()
			began := time.Now()
			d = daemontest.Start(t, o)
			daemontest.Eventually(t, limit, "they are asked about again", askedAbout)
			t.Logf("resumed %s after the kill", time.Since(began).Round(time.Millisecond))
			upstream.finish()
			got := await(t, d, key, g.ID)
			is.Equal(got.Status, "succeeded")
			is.Equal(len(got.Images), images)
			for _, i := range got.Images {
				is.Equal(readImage(t, d, i.URL), blank)
			}
			is.Equal(got.Usage.Credits, images)
			is.Equal(d.MustBalance(t, key), granted-images)
			submitted, cancelled := upstream.count()
			is.Equal(submitted, images) // one for each, whatever came between
			is.Equal(cancelled, 0)
			d.Admin("audit")
		})
	}
}

// readImage reads an image of a daemon that listened elsewhere when it named the address.
func readImage(t *testing.T, d *daemontest.Daemon, address string) []byte {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	answer := d.Call(daemontest.Request{Path: u.Path})
	if answer.Status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", address, answer.Status, answer.Body)
	}
	return answer.Body
}
