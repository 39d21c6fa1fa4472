package sdwebui_test

import (
	"context"
	"encoding/base64"
	"errors"
	_ "image/png"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui/internal/sdwebuitest"
)

// serve starts a web UI and returns a provider for it.
func serve(t *testing.T, upstream http.Handler, change func(*sdwebui.Config)) *sdwebui.Provider {
	t.Helper()
	return upstreamtest.Serve(t, upstream, func(address string) sdwebui.Config {
		return sdwebui.Config{BaseURL: address, User: sdwebuitest.User, Password: sdwebuitest.Password}
	}, change, sdwebui.New)
}

func TestProvider(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New:       func(t *testing.T) imagegen.Provider { return serve(t, &sdwebuitest.Server{}, nil) },
		Answering: func(t *testing.T, h http.Handler) imagegen.Provider { return serve(t, h, nil) },
		Endless:   sdwebuitest.Endless,
		Sample:    true,
		Usual:     true,
	})
}

func TestWhatIsSent(t *testing.T) {
	base := map[string]any{"prompt": `a "fox" <lora:x:1>`, "negative_prompt": "", "width": 1024.0, "height": 1024.0,
		"batch_size": 1.0, "n_iter": 1.0, "steps": 30.0, "cfg_scale": 7.0, "seed": -1.0}
	for name, c := range map[string]struct {
		change  func(*sdwebui.Config)
		request func(*imagegen.ProviderRequest)
		path    string
		want    map[string]any // what differs from base
	}{
		"plain": {path: "/sdapi/v1/txt2img"},
		"several, with little effort": {
			request: func(r *imagegen.ProviderRequest) { r.N, r.Quality, r.Ratio = 3, "low", "16:9" },
			path:    "/sdapi/v1/txt2img",
			want:    map[string]any{"batch_size": 3.0, "steps": 20.0, "width": 1280.0, "height": 720.0},
		},
		"configured": {
			change: func(c *sdwebui.Config) {
				c.Sampler, c.Scheduler, c.Checkpoint, c.NegativePrompt = "DPM++ 2M", "Karras", "sdxl", "blurry"
				c.Guidance, c.Steps.High = 3.5, 60
			},
			request: func(r *imagegen.ProviderRequest) { r.Quality = "high" },
			path:    "/sdapi/v1/txt2img",
			want: map[string]any{"sampler_name": "DPM++ 2M", "scheduler": "Karras", "negative_prompt": "blurry",
				"cfg_scale": 3.5, "steps": 60.0, "override_settings": map[string]any{"sd_model_checkpoint": "sdxl"}},
		},
		"large": {
			request: func(r *imagegen.ProviderRequest) { r.N, r.Tier, r.Ratio = 2, "4K", "2:3" },
			path:    "/sdapi/v1/txt2img",
			want: map[string]any{"n_iter": 2.0, "width": 840.0, "height": 1256.0, "enable_hr": true,
				"hr_resize_x": 2336.0, "hr_resize_y": 3504.0, "hr_upscaler": "Latent", "denoising_strength": 0.7,
				"hr_additional_modules": []any{"Use same choices"}},
		},
		"large for an older checkpoint": {
			change: func(c *sdwebui.Config) { c.BestEdge, c.Upscaler, c.HiresDenoising = 512, "R-ESRGAN 4x+", 0.4 },
			path:   "/sdapi/v1/txt2img",
			want: map[string]any{"width": 512.0, "height": 512.0, "enable_hr": true, "hr_resize_x": 1024.0,
				"hr_resize_y": 1024.0, "hr_upscaler": "R-ESRGAN 4x+", "denoising_strength": 0.4,
				"hr_additional_modules": []any{"Use same choices"}},
		},
		"with more": {
			change: func(c *sdwebui.Config) {
				c.Input = map[string]any{"prompt": "{{prompt}} <lora:detail:0.8>", "styles": []any{"film"}, "seed": 7,
					"alwayson_scripts": map[string]any{
						"controlnet": map[string]any{"args": []any{map[string]any{"image": "{{each_reference}}",
							"module": "canny", "resize_mode": "{{size}}"}}}}}
			},
			request: func(r *imagegen.ProviderRequest) {
				r.Ratio, r.References = "1:1", []imagegen.ProviderReference{providertest.Reference("image/webp", "RIFF",
					1600, 900)}
			},
			path: "/sdapi/v1/img2img",
			want: map[string]any{"prompt": `a "fox" <lora:x:1> <lora:detail:0.8>`, "styles": []any{"film"}, "seed": 7.0,
				"width": 1024.0, "height": 1024.0,
				"init_images": []any{base64.StdEncoding.EncodeToString([]byte("RIFF"))}, "denoising_strength": 0.75,
				"resize_mode": 1.0,
				"alwayson_scripts": map[string]any{"controlnet": map[string]any{"args": []any{map[string]any{
					"image": base64.StdEncoding.EncodeToString([]byte("RIFF")), "module": "canny",
					"resize_mode": "1024x1024"}}}}},
		},
		"with another setting": {
			change: func(c *sdwebui.Config) {
				c.Checkpoint, c.Input = "sdxl",
					map[string]any{"override_settings": map[string]any{"CLIP_stop_at_last_layers": 2}}
			},
			path: "/sdapi/v1/txt2img",
			want: map[string]any{"override_settings": map[string]any{"CLIP_stop_at_last_layers": 2.0,
				"sd_model_checkpoint": "sdxl"}},
		},
		"after a reference": {
			request: func(r *imagegen.ProviderRequest) {
				r.N, r.Tier, r.Ratio, r.References = 2, "2K", "auto",
					[]imagegen.ProviderReference{providertest.Reference("image/webp", "RIFF", 1600, 900)}
			},
			path: "/sdapi/v1/img2img",
			want: map[string]any{"n_iter": 2.0, "width": 2560.0, "height": 1440.0, "denoising_strength": 0.75,
				"resize_mode": 1.0, "init_images": []any{base64.StdEncoding.EncodeToString([]byte("RIFF"))}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := &sdwebuitest.Server{}
			r := providertest.Request(`a "fox" <lora:x:1>`, 1)
			if c.request != nil {
				c.request(&r)
			}
			images, err := providertest.Collect(t.Context(), serve(t, d, c.change), r)
			is.NoErr(err)
			is.Equal(len(images), r.N)
			is.Equal(d.Requests()[0].Path, c.path)
			got, want := d.Requests()[0].Params, maps.Clone(base)
			is.True(got["force_task_id"] != "")
			delete(got, "force_task_id")
			maps.Copy(want, c.want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTooLargeASize(t *testing.T) {
	is := is.New(t)
	d := &sdwebuitest.Server{}
	p := serve(t, d, nil)
	r := providertest.Request("a fox", 1)
	r.Size, r.Tier = imagegen.Size{Width: 8192, Height: 8192}, "4K"
	err := imagegen.CheckRequest(p, r)
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "size 8192x8192 cannot be made by this model"))
	_, err = providertest.Collect(t.Context(), p, r)
	is.True(err != nil)
	is.Equal(len(d.Requests()), 0)
}

func TestCallsTakeTurns(t *testing.T) {
	is := is.New(t)
	d := &sdwebuitest.Server{}
	p := serve(t, d, nil)
	done := make(chan error)
	for range 4 {
		go func() {
			_, err := providertest.Collect(context.Background(), p, providertest.Request("a fox", 1))
			done <- err
		}()
	}
	for range 4 {
		is.NoErr(<-done)
	}
	is.Equal(len(d.Requests()), 4)
	is.Equal(d.MostAtOnce(), 1)
}

func TestCancelledCallIsInterrupted(t *testing.T) {
	is := is.New(t)
	began := make(chan struct{})
	d := &sdwebuitest.Server{Began: began}
	p := serve(t, d, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		_, err := providertest.Collect(ctx, p, providertest.Request(sdwebuitest.Endless, 1))
		ended <- err
	}()
	<-began
	waiting, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	// one that waits for its turn interrupts nothing
	_, err := providertest.Collect(waiting, p, providertest.Request("a fox", 1))
	is.True(errors.Is(err, context.DeadlineExceeded))
	is.Equal(len(d.Interrupted()), 0)
	why := errors.New("no longer wanted")
	cancel(why)
	is.Equal(<-ended, why)
	is.Equal(len(d.Interrupted()), 1)
}

// The task of another user of the web UI is left alone where the web UI says that it is another's.
func TestOthersAreNotInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		progress    string
		status      int
		interrupted bool
	}{
		"another's task":         {`{"active":false,"queued":true}`, http.StatusOK, false},
		"without a web UI to it": {`{"detail":"Not Found"}`, http.StatusNotFound, true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			ctx, cancel := context.WithCancel(t.Context())
			interrupted := make(chan struct{}, 1)
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/sdapi/v1/txt2img":
					io.Copy(io.Discard, r.Body)
					cancel()
					<-r.Context().Done()
				case "/internal/progress":
					w.WriteHeader(c.status)
					io.WriteString(w, c.progress)
				case "/sdapi/v1/interrupt":
					interrupted <- struct{}{}
				}
			}), nil)
			_, err := providertest.Collect(ctx, p, providertest.Request("a fox", 1))
			is.True(errors.Is(err, context.Canceled))
			is.Equal(len(interrupted) == 1, c.interrupted)
		})
	}
}

// The time that the web UI takes counts, also if it fails or is interrupted; that of a call that waits for its turn, or
// does not reach the web UI, does not.
func TestUsed(t *testing.T) {
	is := is.New(t)
	const takes = 50 * time.Millisecond
	slow := func(status int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			time.Sleep(takes)
			if status != http.StatusOK {
				w.WriteHeader(status)
			}
			return status != http.StatusOK
		}
	}
	p := serve(t, &sdwebuitest.Server{Before: slow(http.StatusOK)}, nil)
	r := providertest.Request("a fox", 2)
	used := providertest.Used(&r)
	for _, err := range p.Generate(t.Context(), r) {
		is.NoErr(err)
		is.True(used().Time >= takes) // before the first image
	}
	is.Equal(used(), imagegen.UpstreamUsage{Time: used().Time})

	r = providertest.Request("a fox", 1)
	used = providertest.Used(&r)
	_, err := providertest.Collect(t.Context(),
		serve(t, &sdwebuitest.Server{Before: slow(http.StatusInternalServerError)}, nil), r)
	is.True(err != nil)
	is.True(used().Time >= takes)

	r = providertest.Request(sdwebuitest.Endless, 1)
	used = providertest.Used(&r)
	ctx, cancel := context.WithTimeout(t.Context(), takes)
	defer cancel()
	providertest.Collect(ctx, serve(t, &sdwebuitest.Server{}, nil), r)
	is.True(used().Time > takes/2)

	gone, err := sdwebui.New(sdwebui.Config{BaseURL: "http://127.0.0.1:1"})
	is.NoErr(err)
	r = providertest.Request("a fox", 1)
	used = providertest.Used(&r)
	providertest.Collect(t.Context(), gone, r)
	is.Equal(used(), imagegen.UpstreamUsage{})
}
