package catalog_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// An upstream that repeats the key wherever an answer has words, and calls that a success, has it
// nowhere in the log.
func TestNoKeyInTheLog(t *testing.T) {
	is := is.New(t)
	const said = `{"error": {"message": "%[1]s", "type": "%[1]s", "code": "%[1]s"}, "id": "1", "request_id": "1", "prompt_id": "1",
		"status": "%[2]s", "detail": "%[1]s", "promptFeedback": {"blockReason": "%[1]s"}, "candidates": [], "node_errors": {"1": "%[1]s"},
		"status_url": "%[3]s", "response_url": "%[3]s", "polling_url": "%[3]s", "urls": {"get": "%[3]s"}, "output": "http://%[1]s.example.com/",
		"result": {"sample": "http://%[1]s.example.com/"}, "images": [{"url": "http://%[1]s.example.com/"}],
		"data": [{"url": "http://%[1]s.example.com/"}],
		"1": {"status": {"status_str": "error", "completed": false, "messages": [["execution_error", {"exception_message": "%[1]s"}]]}}}`
	const hosted = "\nprivate: true\nkey_env: KEY"
	kinds := map[string]string{
		"openai": hosted,
		"gemini": hosted + "\ntiers: [1K]\nmax_references: 0",
		"bfl":    hosted,
		"fal":    hosted + "\nmodel: a/b\nplatform_url: BASE\nsizes: [64x64]",
		"http": hosted +
			"\npath: /x\ninput: {prompt: '{{prompt}}'}\nsizes: [64x64]\nimages: ['images[].url']\nerrors: [error.message]",
		"replicate": hosted +
			"\nmodel: a/b\nsizes: [64x64]\ninput: {prompt: '{{prompt}}', size: '{{width}}x{{height}}'}",
	}
	statuses := []string{"Failed", "failed", "Ready", "succeeded", "COMPLETED"}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := strings.Split(r.URL.Path, "/")[1]
		fmt.Fprintf(w, said, secret, status, "http://"+r.Host+"/"+status)
	}))
	defer s.Close()
	// for whom a status means work in progress; an image that an answer names is tried for five seconds
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	logged := map[string][]string{} // the errors, by kind
	for kind, more := range kinds {
		for _, status := range statuses {
			block := "\ntype: " + kind + "\nbase_url: BASE" + more
			p, err := loadProvider(t, strings.ReplaceAll(block, "BASE", s.URL+"/"+status))
			is.NoErr(err)
			r := imagegen.ProviderRequest{Prompt: "a fox", N: 1, Tier: "1K", Ratio: "1:1",
				Size: imagegen.Size{Width: 64, Height: 64}, SaveJob: func(context.Context, []byte) error { return nil }}
			asking.Go(func() {
				for _, err := range p.Generate(ctx, r) {
					if err != nil {
						mu.Lock()
						logged[kind] = append(logged[kind], err.Error())
						mu.Unlock()
					}
				}
			})
		}
	}
	asking.Wait()
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			is := is.New(t)
			is.Equal(len(logged[kind]), len(statuses))
			all := strings.Join(logged[kind], "\n")
			is.True(!strings.Contains(all, secret))
			is.True(strings.Contains(all, imagegen.Secret(secret).String())) // it was repeated where the log has it
		})
	}
}
