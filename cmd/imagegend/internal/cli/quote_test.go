package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
)

// A quote says what a request is made as and costs, for people and for programs.
func TestQuote(t *testing.T) {
	is := is.New(t)
	env := newService(t, nil)
	is.NoErr(os.WriteFile("fox.png", []byte("counted, and not read"), 0o600))
	asked := []string{"quote", "a fox", "--ref", "fox.png", "--size", "1920x1080", "--n", "3"}
	printed := imagegend(t, env, asked...)
	is.Equal(printed.code, 0)
	is.Equal(printed.stdout, "12 credits for 3 images of fake-1, 16:9 in 2K; the account has 10, which is too few\n")

	printed = imagegend(t, env, append(asked, "--json")...)
	is.Equal(printed.code, 0)
	var got map[string]any
	is.NoErr(json.Unmarshal([]byte(printed.stdout), &got))
	is.Equal(cmp.Diff(map[string]any{"model": "fake-1", "aspect_ratio": "16:9", "quality": "2K", "effort": "auto",
		"n":     3.,
		"price": 4., "credits": 12., "balance": 10.}, got), "")
}

// quote refuses what generate refuses.
func TestQuoteOfWhatCannotBeHad(t *testing.T) {
	env := newService(t, nil)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--size", "310x100"}, 1, "3:1"},
		{[]string{"--output-compression", "50"}, 1, "output_compression"},
		{[]string{"--ref", "none.png"}, 1, "none.png"},
		{[]string{"--model", "dall-e"}, 1, "dall-e"},
		{[]string{"--quality", "best"}, 2, "--quality"},
		{[]string{"--no-wait"}, 2, "no-wait"},
		{[]string{"--api-key", "nonsense"}, 1, "API key"},
		{[]string{"--url", "http://127.0.0.1:1"}, 1, "no service answers"},
	} {
		is := is.New(t)
		printed := imagegend(t, env, append([]string{"quote", "a fox"}, c.args...)...)
		is.Equal(printed.code, c.code)
		is.True(strings.Contains(printed.stderr, c.want))
	}
}
