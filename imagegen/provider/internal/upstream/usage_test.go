package upstream_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

func TestMicros(t *testing.T) {
	for number, want := range map[string]imagegen.Micros{
		"0": 0, "1": 1_000_000, "4.5": 4_500_000, "0.04": 40_000, "3.14159265": 3_141_593,
		"0.0000004": 0, "0.0000005": 1, "0.00000049999999999999999999": 0, "1.0000005": 1_000_001, // half up
		"0.1": 100_000, "0.30000000000000004": 300_000, "1e-05": 10, "5E-7": 1, "4.9e-7": 0, "1.5e+2": 150_000_000,
		"1e12": 1_000_000_000_000_000_000, "1000000000000": 1_000_000_000_000_000_000, "1e-99": 0,
		// and what cannot be
		"1000000000000.0000001": 0, "1e13": 0, "1e99": 0, "1e999": 0, "1e999999999": 0, "-1": 0, "-0.5": 0, "": 0,
		"null": 0, "true": 0, `"3"`: 0, "{}": 0, "3/4": 0, "0x10": 0, "1_000": 0, "NaN": 0, "Inf": 0, "+1": 0, ".5": 0,
		"1.": 0, " 1": 0, "1e": 0, "1 USD": 0, strings.Repeat("9", 1000): 0, "0." + strings.Repeat("9", 1000): 0,
	} {
		if got := upstream.Micros(number); got != want {
			t.Errorf("%.40q is %d, want %d", number, got, want)
		}
	}
	is := is.New(t)
	is.Equal(upstream.Count("4175"), int64(4175))
	is.Equal(upstream.Count("4175.9"), int64(4175))
	is.Equal(upstream.Count("1e12"), int64(1e12))
	is.Equal(upstream.Seconds("2.345678"), 2345678*time.Microsecond)
	is.Equal(upstream.Seconds("1e9"), 1e9*time.Second)
	is.Equal(upstream.Seconds("1000000001"), time.Duration(0))
}

func TestTokens(t *testing.T) {
	for name, c := range map[string]struct {
		said upstream.Tokens
		want imagegen.UpstreamUsage
	}{
		"nothing":     {},
		"not divided": {upstream.Tokens{In: 9, Out: 7}, imagegen.UpstreamUsage{TextInput: 9, ImageOutput: 7}},
		"all divided": {upstream.Tokens{In: 9, TextIn: 4, ImageIn: 5, Out: 7, TextOut: 3},
			imagegen.UpstreamUsage{TextInput: 4, ImageInput: 5, TextOutput: 3, ImageOutput: 4}},
		"images only": {upstream.Tokens{In: 9, ImageIn: 5}, imagegen.UpstreamUsage{TextInput: 4, ImageInput: 5}},
		"no sum":      {upstream.Tokens{TextIn: 4, ImageIn: 5}, imagegen.UpstreamUsage{TextInput: 4, ImageInput: 5}},
		"less than that": {upstream.Tokens{In: 1, ImageIn: 5, Out: 1, TextOut: 3},
			imagegen.UpstreamUsage{ImageInput: 5, TextOutput: 3}},
	} {
		t.Run(name, func(t *testing.T) { is.New(t).Equal(c.said.Usage(), c.want) })
	}
}

func TestReport(t *testing.T) {
	is := is.New(t)
	var reported []imagegen.UpstreamUsage
	r := imagegen.ProviderRequest{Used: func(u imagegen.UpstreamUsage) { reported = append(reported, u) }}
	upstream.Report(r, imagegen.UpstreamUsage{})
	upstream.Report(r, imagegen.UpstreamUsage{Units: 1, ImageOutput: -1})
	upstream.Report(r, imagegen.UpstreamUsage{Units: 1, Time: -1})
	upstream.Report(r, imagegen.UpstreamUsage{Units: 1})
	is.Equal(reported, []imagegen.UpstreamUsage{{Units: 1}})
	upstream.Report(imagegen.ProviderRequest{}, imagegen.UpstreamUsage{Units: 1}) // nobody wants to know
}

// What stands behind the last image that is wanted is read too, for a while, and whatever becomes of it.
func TestLastWords(t *testing.T) {
	const image = `{"a":["first","second"`
	for name, c := range map[string]struct {
		rest  string
		after time.Duration // before the rest comes
		read  string
		took  time.Duration
	}{
		"at once":    {`],"b":7}`, 0, "first second 7", 0},
		"soon":       {`],"b":7}`, time.Second, "first second 7", time.Second},
		"never":      {"", time.Hour, "first second", 2 * time.Second},
		"malformed":  {`]]`, 0, "first second", 0},
		"cut short":  {``, 0, "first second", 0},
		"more of it": {`,"third"],"b":7}`, 0, "first second third 7", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				r, w := io.Pipe()
				go func() {
					io.WriteString(w, image)
					time.Sleep(c.after)
					io.WriteString(w, c.rest)
					w.Close()
				}()
				body, began := upstream.Answer(r), time.Now()
				var read []string
				wanted, err := upstream.Each(t.Context(), body, upstream.Values,
					func(s upstream.String) (bool, error) {
						text, err := s.Text()
						read = append(read, text+s.Literal)
						return text == "first", err
					})
				is.NoErr(err)
				is.Equal(time.Since(began), c.took)
				is.True(!wanted)
				is.Equal(strings.Join(read, " "), c.read)
				time.Sleep(c.after) // until the upstream gives up
			})
		})
	}
}

// A caller whose time is up gets no error: it has stopped to range, so nothing more can be yielded.
func TestNoMoreWhenTheTimeIsUp(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	wanted, err := upstream.Each(ctx, strings.NewReader(`["a","b"]`), upstream.Strings,
		func(upstream.String) (bool, error) { cancel(); return false, nil })
	is.NoErr(err)
	is.True(!wanted)
}

// When all images have come, calls may still read for a while what they have used.
func TestGatherHearsLastWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		heard := make([]error, 3)
		images := fanIn(t.Context(), 3, func(ctx context.Context, i int, yield upstream.Yield) error {
			yield(strings.NewReader("x"))
			heard[i] = upstream.Sleep(ctx, time.Duration(i+1)*900*time.Millisecond)
			return nil
		})
		n := 0
		for _, err := range images {
			is.NoErr(err)
			if n++; n == 3 {
				break
			}
		}
		is.Equal(heard, []error{nil, nil, context.Canceled})
		is.Equal(time.Since(began), 2*time.Second)
	})
}
