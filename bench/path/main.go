// Path counts what one request runs through: the files and functions of this module, and of the packages that the
// request must pass. It makes each request once before, so that what is made only once does not count.
//
//	go run -cover -covermode=atomic -coverpkg=./... ./bench/path
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime/coverage"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage"
)

const module = "github.com/imagegend/imagegend/"

func main() {
	list := flag.Bool("list", false, "name the functions too")
	flag.Parse()
	if err := run(context.Background(), *list); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, list bool) error {
	dir, err := os.MkdirTemp("", "path")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := storage.Open(dir+"/data", nil)
	if err != nil {
		return err
	}
	quiet := slog.New(slog.NewJSONHandler(io.Discard, nil))
	service, err := engine.New(engine.Config{
		Store: db, Ledger: db, Log: quiet,
		Models: []engine.Model{{ID: "fake-1", Provider: &provider.Fake{},
			Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}},
	})
	if err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	user, err := service.Accounts().CreateUser(ctx, "alice", "PRO")
	if err != nil {
		return err
	}
	if _, err := db.Grant(ctx, imagegen.Grant{User: user.ID, Credits: 100}); err != nil {
		return err
	}
	key, _, err := service.Accounts().MintKey(ctx, user.ID, "path", time.Time{})
	if err != nil {
		return err
	}
	server := httptest.NewServer(httpapi.NewHandler(service, httpapi.Options{Log: quiet}))
	defer server.Close()
	c := caller{server.URL, key.Reveal()}
	return c.measure(dir, list)
}

// caller makes requests, one after the other.
type caller struct{ url, key string }

func (c caller) measure(dir string, list bool) error {
	var made struct {
		ID     string
		Images []struct{ URL string }
	}
	post := func() error {
		answer, err := c.do("POST", c.url+"/api/v1/images/generations",
			`{"model":"fake-1","prompt":"a fox in the snow"}`)
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, &made)
	}
	get := func(url func() string) func() error {
		return func() error { _, err := c.do("GET", url(), ""); return err }
	}
	for _, r := range []struct {
		name string
		do   func() error
	}{
		{"POST of a generation", post},
		{"GET of a generation", get(func() string { return c.url + "/api/v1/generations/" + made.ID })},
		{"GET of an image", get(func() string { return made.Images[0].URL })},
	} {
		functions, err := covered(dir, r.do)
		if err != nil {
			return err
		}
		files := make(map[string]int)
		for _, f := range functions {
			files[f.file]++
		}
		fmt.Printf("%s: %d functions in %d files\n", r.name, len(functions), len(files))
		if list {
			for _, file := range slices.Sorted(maps.Keys(files)) {
				fmt.Println("\t" + file)
				for _, f := range functions {
					if f.file == file {
						fmt.Println("\t\t" + f.name)
					}
				}
			}
		}
	}
	return nil
}

func (c caller) do(method, url, body string) ([]byte, error) {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, url, answer.Status, b)
	}
	return b, err
}

type function struct{ file, name string }

// line is what covdata says of a function.
var line = regexp.MustCompile(`(?m)^` + module + `(\S+):\d+:\s+(\S+)\s+([\d.]+)%$`)

// covered returns the functions that a second call of do runs through.
func covered(dir string, do func() error) (functions []function, err error) {
	if err := do(); err != nil {
		return nil, err
	}
	counts, err := os.MkdirTemp(dir, "counts")
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Second) // what the call before left to be done does not count
	if err := coverage.ClearCounters(); err != nil {
		return nil, fmt.Errorf("build this with -cover -covermode=atomic and -coverpkg for all packages: %w", err)
	}
	if err := do(); err != nil {
		return nil, err
	}
	if err := coverage.WriteCountersDir(counts); err != nil {
		return nil, err
	}
	if err := coverage.WriteMetaDir(counts); err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	cmd := exec.Command("go", "tool", "covdata", "func", "-i="+counts)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", cmd, err, &stderr)
	}
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		if m[3] != "0.0" && !strings.HasPrefix(m[1], "bench/") {
			functions = append(functions, function{m[1], m[2]})
		}
	}
	return functions, nil
}
