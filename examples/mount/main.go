// Command mount serves the image API beside the other routes of a server that is there already.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	db := memory.New(nil)
	engine, err := imagegen.New(imagegen.Config{
		Store:  db,
		Ledger: db,
		Models: []imagegen.Model{{
			ID:       "fake-1",
			Provider: &provider.Fake{},
			Credits:  map[imagegen.Tier]imagegen.Credits{"1K": 1},
		}},
	})
	if err != nil {
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return err
	}
	defer engine.Stop(ctx)

	// The API takes /api/v1/ and /images/; everything else stays the server's own.
	api := httpapi.NewHandler(engine, httpapi.Options{})
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", api)
	mux.Handle("/images/", api)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the shop") })
	server := httptest.NewServer(mux) // a real program: http.ListenAndServe
	defer server.Close()

	user, err := engine.Accounts().CreateUser(ctx, "alice", "PRO")
	if err != nil {
		return err
	}
	if _, err := db.Grant(ctx, imagegen.Grant{User: user.ID, Credits: 10}); err != nil {
		return err
	}
	key, _, err := engine.Accounts().MintKey(ctx, user.ID, "shop", time.Time{})
	if err != nil {
		return err
	}
	for _, call := range []struct{ method, path, body string }{
		{"GET", "/", ""},
		{"GET", "/api/v1/credits", ""},
		{"POST", "/api/v1/images/generations", `{"model":"fake-1","prompt":"a fox in the snow"}`},
	} {
		if err := show(ctx, out, server.URL, key, call.method, call.path, call.body); err != nil {
			return err
		}
	}
	return nil
}

func show(ctx context.Context, out io.Writer, base string, key imagegen.Secret, method, path, body string) error {
	request, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key.Reveal())
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = fmt.Fprintf(out, "%s %s: %s, %s\n", method, path, response.Status, response.Header.Get("Content-Type"))
	return err
}
