package survival_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// Two releases come, node by node, under load: one whose migration adds to the schema, and a later one whose migration
// takes away and asks for the first at least. Nodes of two versions work on one database meanwhile. Callers see nothing
// but successes and 503, what was charged is what was made, and the program of the beginning is refused at the end.
func TestRollingUpgrade(t *testing.T) {
	database, objects := postgrestest.Start(t), s3test.Start(t)
	is := is.New(t)
	known, migrations := migrationsOf(t)
	expands := migration{known + 1, known, `
alter table imagegend.generations add column next text;
alter table imagegend.accounts add column next_at bigint;
create table imagegend.next (id bytea primary key);`}
	contracts := migration{known + 2, known + 1, `
alter table imagegend.generations drop column next;
drop table imagegend.next;`}
	programs := []string{daemontest.Build(t), programWith(t, migrations, expands), programWith(t, migrations, expands,
		contracts)}

	f := &fleet{T: t, options: daemontest.Options{Env: []string{
		"IMAGEGEND_DATABASE=" + database.Database(t), "IMAGEGEND_IMAGES=" + objects.Address()}}}
	for range 3 {
		f.nodes = append(f.nodes, f.start(programs[0]))
	}
	c := f.callers(6)
	for _, program := range programs[1:] {
		for i := range f.nodes {
			f.replace(i, program)
			c.succeedOften()
		}
	}
	c.relieve()
	t.Logf("%d calls succeeded, %d were answered 503", c.succeeded.Load(), c.unavailable.Load())

	is.Equal(f.nodes[0].MustBalance(t, c.key), credits-int(c.images.Load()))
	f.nodes[0].Admin("audit")
	f.refuses(programs[0], "use a later one")
	is.Equal(f.start(programs[1]).Terminate(time.Minute), 0)
}

// migration is one that no release has.
type migration struct {
	number, program int
	sql             string
}

// migrationsOf counts the migrations of the storage, and finds where they lie.
func migrationsOf(t *testing.T) (known int, dir string) {
	t.Helper()
	is := is.New(t)
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}",
		"github.com/imagegend/imagegend/imagegen/storage/postgres").Output()
	is.NoErr(err)
	dir = filepath.Join(strings.TrimSpace(string(out)), "migrations")
	all, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	is.NoErr(err)
	is.True(len(all) > 0)
	return len(all), dir
}

// programWith builds a daemon that has further migrations.
func programWith(t *testing.T, dir string, further ...migration) (program string) {
	t.Helper()
	files := make(map[string]string)
	for _, m := range further {
		files[filepath.Join(dir, fmt.Sprintf("%04d_next.sql", m.number))] = fmt.Sprintf("-- minimum program: %d\n%s",
			m.program, m.sql)
	}
	program, err := daemontest.BuildAltered(files)
	is.New(t).NoErr(err)
	return program
}

// fleet is some nodes, and the balancer in front of them: an [http.RoundTripper] that goes from one that refuses
// a connection to the next. It does so too with one that is reset, since it came as the node closed its listener: all
// calls here may be repeated. A connection that a node has taken and closes without an answer is a failure.
type fleet struct {
	*testing.T
	options daemontest.Options

	mu    sync.Mutex
	nodes []*daemontest.Daemon
	turn  int
}

func (f *fleet) start(program string) *daemontest.Daemon {
	f.Helper()
	o := f.options
	o.Program = program
	return daemontest.Start(f.T, o)
}

// replace ends a node as an operator does, and then starts another in its place.
func (f *fleet) replace(i int, program string) {
	f.Helper()
	is.New(f.T).Equal(f.nodes[i].Terminate(time.Minute), 0)
	d := f.start(program)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes[i] = d
}

// refuses checks that a program does not start any more.
func (f *fleet) refuses(program, why string) {
	f.Helper()
	o := f.options
	o.Program = program
	d := daemontest.Launch(f.T, o)
	is := is.New(f.T)
	is.True(d.Wait(time.Minute) != 0)
	is.True(strings.Contains(d.Output(), why))
}

// next is the node whose turn it is.
func (f *fleet) next() *url.URL {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn++
	at, err := url.Parse(f.nodes[f.turn%len(f.nodes)].URL)
	if err != nil {
		f.Error(err)
	}
	return at
}

func (f *fleet) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	for range 20 {
		at := f.next()
		again := r.Clone(r.Context())
		again.URL.Scheme, again.URL.Host = at.Scheme, at.Host
		again.Body, again.GetBody = io.NopCloser(bytes.NewReader(body)), func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(body)), nil
		}
		if answer, err = http.DefaultTransport.RoundTrip(again); !errors.Is(err, syscall.ECONNREFUSED) &&
			!errors.Is(err, syscall.ECONNRESET) {
			return answer, err
		}
	}
	return nil, err
}

// callers ask a fleet for images, one after the other each.
type callers struct {
	*fleet
	url, key                       string
	succeeded, unavailable, images atomic.Int64
	ending                         context.Context
	relieve                        func() // ends them
}

const credits = 1_000_000

func (f *fleet) callers(n int) *callers {
	f.Helper()
	balancer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: f})
	f.Cleanup(balancer.Close)
	c := &callers{fleet: f, url: balancer.URL}
	_, c.key = f.nodes[0].NewUser(credits)
	ending, end := context.WithCancel(f.Context())
	var all sync.WaitGroup
	c.ending, c.relieve = ending, func() { end(); all.Wait() }
	for i := range n {
		all.Go(func() {
			for k := 0; ending.Err() == nil; k++ {
				c.generate(fmt.Sprintf("caller-%d-call-%d", i, k), k%2 == 0)
			}
		})
	}
	return c
}

// succeedOften waits until many calls have succeeded.
func (c *callers) succeedOften() {
	c.Helper()
	enough := c.succeeded.Load() + 20
	daemontest.Eventually(c.T, 2*time.Minute, "calls succeed", func() bool {
		return c.Failed() || c.succeeded.Load() >= enough
	})
}

// generate asks for an image until it is there; a 503 has it ask once more.
func (c *callers) generate(prompt string, async bool) {
	body, err := json.Marshal(map[string]any{"model": "fake-1", "prompt": prompt, "size": "64x48", "async": async})
	if err != nil {
		c.Error(err)
	}
	var g daemontest.Generation
	if !c.call(http.MethodPost, "/api/v1/images/generations", prompt, body, &g) {
		return
	}
	for !g.Ended() {
		if !c.call(http.MethodGet, "/api/v1/generations/"+g.ID, "", nil, &g) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	if g.Status != "succeeded" {
		c.Errorf("%s: %s %+v", prompt, g.Status, g.Error)
	}
	c.images.Add(int64(len(g.Images)))
	c.succeeded.Add(1)
}

// call calls until the answer is none of 503. Any other failure is one of the test.
func (c *callers) call(method, path, key string, body []byte, into *daemontest.Generation) bool {
	for {
		status, answer, err := c.ask(method, path, key, body)
		switch {
		case status == http.StatusServiceUnavailable:
			c.unavailable.Add(1)
			time.Sleep(20 * time.Millisecond)
			continue
		case err != nil || status >= http.StatusMultipleChoices:
			c.Errorf("%s %s: %d, %v: %s", method, path, status, err, answer)
			return false
		}
		if err := json.Unmarshal(answer, into); err != nil {
			c.Error(err)
			return false
		}
		return true
	}
}

func (c *callers) ask(method, path, key string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequest(method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer a.Body.Close()
	answer, err = io.ReadAll(a.Body)
	return a.StatusCode, answer, err
}
