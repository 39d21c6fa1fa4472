package catalog_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// An upstream that repeats the key wherever an answer has words, and calls that a success, has it
// nowhere in the log.
func TestNoKeyInTheLog(t *testing.T) {
	const said = `{"error": {"message": "%[1]s", "type": "%[1]s", "code": "%[1]s"}, "id": "1", "request_id": "1", "prompt_id": "1",
		"status": "%[2]s", "detail": "%[1]s", "promptFeedback": {"blockReason": "%[1]s"}, "candidates": [], "node_errors": {"1": "%[1]s"},
		"status_url": "%[3]s", "response_url": "%[3]s", "polling_url": "%[3]s", "urls": {"get": "%[3]s"}, "output": "http://%[1]s.example.com/",
		"result": {"sample": "http://%[1]s.example.com/"}, "images": [{"url": "http://%[1]s.example.com/"}],
		"data": [{"url": "http://%[1]s.example.com/"}],
		"1": {"status": {"status_str": "error", "completed": false, "messages": [["execution_error", {"exception_message": "%[1]s"}]]}}}`
	const hosted = "\nprivate: true\nkey_env: KEY"
	for kind, more := range map[string]string{
		"openai":    hosted,
		"gemini":    hosted + "\ntiers: [1K]\nmax_references: 0",
		"bfl":       hosted,
		"fal":       hosted + "\nmodel: a/b\nplatform_url: BASE\nsizes: [64x64]",
		"http":      hosted + "\npath: /x\ninput: {prompt: '{{prompt}}'}\nsizes: [64x64]\nimages: ['images[].url']\nerrors: [error.message]",
		"replicate": hosted + "\nmodel: a/b\nsizes: [64x64]\ninput: {prompt: '{{prompt}}', size: '{{width}}x{{height}}'}",
	} {
		for _, status := range []string{"Failed", "failed", "Ready", "succeeded", "COMPLETED"} {
			t.Run(kind+" "+status, func(t *testing.T) {
				is := is.New(t)
				var s *httptest.Server
				s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					fmt.Fprintf(w, said, secret, status, s.URL)
				}))
				defer s.Close()
				p, err := loadProvider(t, strings.ReplaceAll("\ntype: "+kind+"\nbase_url: BASE"+more, "BASE", s.URL))
				is.NoErr(err)
				r := imagegen.ProviderRequest{Prompt: "a fox", N: 1, Tier: "1K", Ratio: "1:1", Size: imagegen.Size{Width: 64, Height: 64},
					SaveJob: func(context.Context, []byte) error { return nil }}
				failed := false
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // for whom the status means work in progress
				defer cancel()
				for _, err := range p.Generate(ctx, r) {
					failed = failed || err != nil
					is.True(err == nil || !strings.Contains(err.Error(), secret))
				}
				is.True(failed)
			})
		}
	}
}
