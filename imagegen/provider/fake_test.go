package provider_test

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// small keeps the tests quick.
func small(prompt string, n int) imagegen.ProviderRequest {
	return imagegen.ProviderRequest{Key: "gen_1", Prompt: prompt, N: n, Size: imagegen.Size{Width: 32, Height: 24},
		Ratio: "4:3", Tier: imagegen.Tier1K}
}

func classOf(err error) string {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok {
		return p.Class.String()
	}
	return fmt.Sprint(err)
}

func TestDirectives(t *testing.T) {
	type outcome struct {
		Images int
		Ended  string
	}
	for prompt, want := range map[string]outcome{
		"a fox":                             {3, "<nil>"},
		"[fake:fail]":                       {0, "invalid"},
		"[fake:refuse]":                     {0, "refused"},
		"[fake:transient=1]":                {0, "unavailable"},
		"[fake:images=2]":                   {2, "<nil>"},
		"[fake:images=6]":                   {6, "<nil>"},
		"[fake:images=2][fake:fail]":        {2, "invalid"},
		"[fake:images=1][fake:transient=1]": {1, "unavailable"},
		"[fake:transient=1][fake:refuse]":   {0, "unavailable"},
		"[fake:crash]":                      {0, "invalid"}, // not permitted
		"[fake:oops]":                       {0, "invalid"},
	} {
		t.Run(prompt, func(t *testing.T) {
			images, err := providertest.Read(t.Context(), &provider.Fake{}, small(prompt, 3))
			if diff := cmp.Diff(want, outcome{len(images), classOf(err)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestImagesOfOneCallDiffer(t *testing.T) {
	is := is.New(t)
	images, err := providertest.Read(t.Context(), &provider.Fake{}, small("a fox", 2))
	is.NoErr(err)
	is.True(images[0] != images[1])
	again, err := providertest.Read(t.Context(), &provider.Fake{}, small("a fox", 2))
	is.NoErr(err)
	is.Equal(images, again) // but the next call draws the same two
}

func TestCheck(t *testing.T) {
	is := is.New(t)
	check := func(f *provider.Fake, prompt string) error { return f.Check(small(prompt, 1)) }
	is.NoErr(check(&provider.Fake{}, "a fox [fake:delay=3s]"))
	is.Equal(classOf(check(&provider.Fake{}, "[fake:fial]")), "invalid")
	is.Equal(classOf(check(&provider.Fake{}, "[fake:crash]")), "invalid") // it would kill the service
	is.NoErr(check(&provider.Fake{Crash: func() {}}, "[fake:crash]"))
	scripted := &provider.Fake{Script: func(imagegen.ProviderRequest) provider.Faults { return provider.Faults{} }}
	is.NoErr(check(scripted, "[fake:fial]")) // mere text
}

func TestTransientCountsByKey(t *testing.T) {
	is := is.New(t)
	f := &provider.Fake{}
	call := func(key string) string {
		r := small("[fake:transient=2]", 1)
		r.Key = key
		_, err := providertest.Read(t.Context(), f, r)
		return classOf(err)
	}
	is.Equal(call("a"), "unavailable")
	is.Equal(call("b"), "unavailable") // another generation
	is.Equal(call("a"), "unavailable")
	is.Equal(call("a"), "<nil>") // the third attempt works
	is.Equal(call("a"), "<nil>") // and so do those after it
	is.Equal(call("b"), "unavailable")
	is.Equal(call("b"), "<nil>")
}

func TestScriptReplacesDirectives(t *testing.T) {
	is := is.New(t)
	f := &provider.Fake{Script: func(r imagegen.ProviderRequest) provider.Faults {
		return provider.Faults{Images: r.N - 1}
	}}
	images, err := providertest.Read(t.Context(), f, small("[fake:fail]", 3))
	is.NoErr(err)
	is.Equal(len(images), 2)
}

func TestReadyImage(t *testing.T) {
	is := is.New(t)
	f := &provider.Fake{Image: []byte("any bytes at all")}
	images, err := providertest.Read(t.Context(), f, small("a fox", 2))
	is.NoErr(err)
	is.Equal(images, []string{"any bytes at all", "any bytes at all"})
}

func TestCorruptImageHasAHeaderOnly(t *testing.T) {
	is := is.New(t)
	r := small("[fake:corrupt]", 1)
	r.Size = imagegen.Size{Width: 16, Height: 16} // the smallest there is
	images, err := providertest.Read(t.Context(), &provider.Fake{}, r)
	is.NoErr(err)
	is.Equal(len(images), 1)
	c, err := png.DecodeConfig(strings.NewReader(images[0]))
	is.NoErr(err)
	is.Equal(c.Width, 16)
	_, err = png.Decode(strings.NewReader(images[0]))
	is.True(err != nil)
}

func TestDelayIsOnceACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		start := time.Now()
		images, err := providertest.Read(t.Context(), &provider.Fake{}, small("[fake:delay=3s]", 2))
		is.NoErr(err)
		is.Equal(len(images), 2)
		is.Equal(time.Since(start), 3*time.Second)
	})
}

func TestContextEndsDelayAndHang(t *testing.T) {
	for _, prompt := range []string{"[fake:delay=1h]", "[fake:hang]"} {
		t.Run(prompt, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				why := errors.New("enough")
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, why)
				defer cancel()
				start := time.Now()
				images, err := providertest.Read(ctx, &provider.Fake{}, small(prompt, 2))
				is.Equal(err, why)
				is.Equal(len(images), 0)
				is.Equal(time.Since(start), time.Minute)
			})
		})
	}
}

func TestPanic(t *testing.T) {
	defer func() { is.New(t).True(recover() != nil) }()
	_, _ = providertest.Read(t.Context(), &provider.Fake{}, small("[fake:panic]", 1))
}

func TestCrash(t *testing.T) {
	is, crashes := is.New(t), 0
	f := &provider.Fake{Crash: func() { crashes++ }}
	images, _ := providertest.Read(t.Context(), f, small("[fake:crash] [fake:images=1]", 2))
	is.Equal(len(images), 1)
	is.Equal(crashes, 1)
}

// Images that are cut short are given back in both ways of verification.
func TestCorruptImagesAreRefunded(t *testing.T) {
	for _, v := range imagegen.Verifications() {
		is := is.New(t)
		e := imagegentest.Start(t, func(c *engine.Config) { c.Models[0].Verify = v })
		alice := e.As(imagegentest.Alice)
		for _, size := range []imagegen.Size{{}, {Width: 64, Height: 64}} {
			_, err := alice.Generate(t.Context(), imagegen.GenerateRequest{Model: imagegentest.Model,
				Prompt: "[fake:corrupt] a fox", N: 2, Size: size})
			is.True(errors.Is(err, imagegen.ErrGenerationFailed))
		}
		b, err := alice.Balance(t.Context())
		is.NoErr(err)
		is.Equal(b.Credits, imagegen.Credits(100))
		report, err := e.DB.Audit(t.Context())
		is.NoErr(err)
		is.True(report.Clean() && report.Images == 0)
	}
}

func TestTokens(t *testing.T) {
	for prompt, want := range map[string]int64{"a fox": 0, "[fake:tokens=1120] a fox": 1120,
		"[fake:tokens=5][fake:fail]": 5, "[fake:tokens=5][fake:transient=1]": 5} {
		r := small(prompt, 3)
		used := providertest.Used(&r)
		providertest.Read(t.Context(), &provider.Fake{}, r)
		is.New(t).Equal(used(), imagegen.UpstreamUsage{ImageOutput: want})
	}
	_, err := providertest.Read(t.Context(), &provider.Fake{}, small("[fake:tokens=5]", 1))
	is.New(t).NoErr(err) // though nobody wants to know
}
