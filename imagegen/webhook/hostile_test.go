package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/webhook"
)

// hostile are receivers that misbehave, each in its way, and what the operator sees of it.
var hostile = map[string]struct {
	serve  http.HandlerFunc
	status int // 0: no answer
	says   string
}{
	"hangs": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, "deadline exceeded"},
	"hangs in its answer": {func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, 500, ""},
	"answers 500": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 500) }, 500, "no"},
	"redirects":   {http.RedirectHandler("http://127.0.0.1:1/inside", http.StatusFound).ServeHTTP, 302, ""},
	"answers 10 GB": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(int64(10)<<30))
		w.WriteHeader(http.StatusBadGateway)
		for chunk := []byte(strings.Repeat("flood ", 10_000)); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}, 502, "flood"},
	"answers headers without end": {func(w http.ResponseWriter, _ *http.Request) {
		hijacked(w, func(c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := fmt.Fprintf(c, "X-%s: 1\r\n", strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		})
	}, 0, "exceeded"},
	"closes half-way": {func(w http.ResponseWriter, _ *http.Request) {
		hijacked(w, func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 500 Inter") })
	}, 0, ""},
	"closes half-way in its answer": {func(w http.ResponseWriter, _ *http.Request) {
		hijacked(w, func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 503 Busy\r\nContent-Length: 100\r\n\r\nhalf") })
	}, 503, "half"},
	"answers anything but HTTP": {func(w http.ResponseWriter, _ *http.Request) {
		hijacked(w, func(c net.Conn) { fmt.Fprint(c, "\x00\xff\x00\xff\r\n\r\n") })
	}, 0, "malformed"},
}

// hijacked answers byte by byte, and closes the connection.
func hijacked(w http.ResponseWriter, answer func(net.Conn)) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer c.Close()
	answer(c)
}

// While receivers misbehave in every way at once, another one gets all events in order, memory stays where it was, each
// keeps its place, and an operator sees what is wrong with each, and is warned.
func TestMisbehavingReceivers(t *testing.T) {
	t.Parallel()
	is, ctx, db := is.New(t), t.Context(), memory.New(nil)
	is.NoErr(db.KeepFeed(ctx, true))
	var ahead atomic.Int64
	var endpoints []webhook.Endpoint
	add := func(name, url string, private bool) {
		endpoints = append(endpoints, webhook.Endpoint{Name: name, URL: url, Private: private,
			Secrets: []imagegen.Secret{secret}})
	}
	for name, h := range hostile {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else it would not notice that the caller has left
			h.serve(w, r)
		}))
		t.Cleanup(server.Close)
		add(name, server.URL, true)
	}
	const events = 300
	came := make(chan string, events)
	good := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		came <- r.Header.Get("webhook-id")
	}))
	t.Cleanup(good.Close)
	add("good", good.URL, true)
	u, err := url.Parse(good.URL)
	is.NoErr(err)
	add("leads inside by a name", "https://localhost:"+u.Port(), false) // found out behind the resolver
	add("leads inside", "https://127.0.0.1:"+u.Port(), false)
	add("leads to a cloud's secrets", "http://169.254.169.254/latest/meta-data", true)
	d, err := webhook.New(webhook.Config{Feed: db, Endpoints: endpoints,
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	is.NoErr(err)
	running, stop := context.WithCancel(ctx)
	var run sync.WaitGroup
	run.Go(func() { d.Run(running) })
	defer func() { stop(); run.Wait() }()
	began := awaitPlaces(t, db, len(endpoints), func(p imagegen.FeedPlace) bool {
		return time.Now().UnixMilli() > int64(p.Number) // what happens now comes behind it
	})

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range events {
		_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
		is.NoErr(err)
	}
	all, err := db.Feed(ctx, 0, events)
	is.NoErr(err)
	for _, e := range all {
		is.Equal(<-came, e.ID)
	}
	places := awaitPlaces(t, db, len(endpoints), func(p imagegen.FeedPlace) bool { return p.Event != "" })
	runtime.ReadMemStats(&after)
	is.True(after.TotalAlloc-before.TotalAlloc < 64<<20) // the tests' servers included
	for name, h := range hostile {
		p := places[name]
		is.Equal(p.Number, began[name].Number)
		is.Equal(p.Event, all[0].ID)
		if p.Status != h.status || !strings.Contains(p.Answer, h.says) || len(p.Answer) > 1<<10 {
			t.Errorf("%s: status %d, %q", name, p.Status, p.Answer)
		}
	}
	for _, name := range []string{"leads inside by a name", "leads inside", "leads to a cloud's secrets"} {
		is.Equal(places[name].Number, began[name].Number)
		is.True(strings.Contains(places[name].Answer, "not a public address"))
	}
	is.Equal(len(d.Warnings()), 0)
	ahead.Store(int64(73 * time.Hour))
	warned := d.Warnings()
	is.Equal(len(warned), len(endpoints)-1)
	for _, w := range warned {
		is.True(!strings.Contains(w.Detail, `"good"`))
	}
}

// awaitPlaces waits until something holds of the places of so many endpoints. That each was tried takes five seconds,
// if one hangs.
func awaitPlaces(t *testing.T, db *memory.DB, endpoints int,
	holds func(imagegen.FeedPlace) bool) map[string]imagegen.FeedPlace {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		places, err := db.FeedPlaces(t.Context())
		is.New(t).NoErr(err)
		byName := map[string]imagegen.FeedPlace{}
		for _, p := range places {
			if holds(p) {
				byName[p.Reader] = p
			}
		}
		if len(byName) == endpoints {
			return byName
		}
	}
	t.Fatal("not within a minute")
	return nil
}
