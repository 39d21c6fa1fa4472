package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/webhook"
)

const secret = imagegen.Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

// The signature is that of the reference implementations for the same message; each secret has one.
func TestSignature(t *testing.T) {
	is := is.New(t)
	d, err := webhook.New(webhook.Config{Endpoints: []webhook.Endpoint{{Name: "a", URL: "https://shop.example",
		Secrets: []imagegen.Secret{secret, "whsec_" + imagegen.Secret(strings.Repeat("A", 32))}}}})
	is.NoErr(err)
	got := strings.Fields(d.Signatures(0, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)))
	is.Equal(len(got), 2)
	is.Equal(got[0], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	is.True(got[1] != got[0] && strings.HasPrefix(got[1], "v1,"))
}

// What cannot be an endpoint is refused without its secret.
func TestWrongEndpoints(t *testing.T) {
	good := webhook.Endpoint{Name: "a", URL: "https://shop.example/hook", Secrets: []imagegen.Secret{secret}}
	for name, change := range map[string]func(*webhook.Endpoint){
		"no name":      func(e *webhook.Endpoint) { e.Name = "" },
		"no host":      func(e *webhook.Endpoint) { e.URL = "/hook" },
		"http":         func(e *webhook.Endpoint) { e.URL = "http://shop.example" },
		"a password":   func(e *webhook.Endpoint) { e.URL = "https://a:b@shop.example" },
		"no secret":    func(e *webhook.Endpoint) { e.Secrets = nil },
		"short secret": func(e *webhook.Endpoint) { e.Secrets = []imagegen.Secret{"whsec_c2VjcmV0"} },
		"odd secret":   func(e *webhook.Endpoint) { e.Secrets = []imagegen.Secret{"secret!"} },
		"unknown kind": func(e *webhook.Endpoint) { e.Kinds = []imagegen.FeedKind{"credits.gone"} },
	} {
		t.Run(name, func(t *testing.T) {
			is, e := is.New(t), good
			change(&e)
			_, err := webhook.New(webhook.Config{Endpoints: []webhook.Endpoint{e}})
			is.True(err != nil)
			is.True(!strings.Contains(err.Error(), "c2VjcmV0"))
		})
	}
	_, err := webhook.New(webhook.Config{Endpoints: []webhook.Endpoint{good, good}})
	is.New(t).True(err != nil)
}

// receivers answer by name of the host, and note what came.
type receivers struct {
	ahead  atomic.Int64 // how far the clock is that the deliverer sees, so that days pass at once
	mu     sync.Mutex
	answer map[string]func(n int) (*http.Response, error)
	came   map[string][]string // identifiers, by host
	bodies map[string]admin.Event
}

func (r *receivers) RoundTrip(req *http.Request) (*http.Response, error) {
	host, id := req.URL.Host, req.Header.Get("webhook-id")
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.came[host] = append(r.came[host], id)
	n := len(r.came[host])
	var e admin.Event
	_ = json.Unmarshal(body, &e)
	r.bodies[id] = e
	r.mu.Unlock()
	if answer := r.answer[host]; answer != nil {
		resp, err := answer(n)
		if resp == nil && err == nil {
			<-req.Context().Done()
			err = req.Context().Err()
		}
		return resp, err
	}
	return answered(http.StatusNoContent), nil
}

func answered(status int) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("")), Header: http.Header{}}
}

// delivering runs a deliverer over a store until the test ends.
func delivering(t *testing.T, db imagegen.FeedKeeper, r *receivers, endpoints ...webhook.Endpoint) *webhook.Deliverer {
	t.Helper()
	for i := range endpoints {
		endpoints[i].URL, endpoints[i].Secrets = "https://"+endpoints[i].Name, []imagegen.Secret{secret}
	}
	d, err := webhook.New(webhook.Config{Feed: db, Endpoints: endpoints,
		Now: func() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) }})
	is.New(t).NoErr(err)
	r.came, r.bodies = make(map[string][]string), make(map[string]admin.Event)
	d.Through(r)
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { d.Run(ctx) })
	t.Cleanup(func() { stop(); done.Wait() })
	return d
}

// Each endpoint gets its events in order, whatever another one does; one that comes back gets what it has missed, under
// the same identifiers.
func TestDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, ctx, db := is.New(t), t.Context(), memory.New(nil)
		is.NoErr(db.KeepFeed(ctx, true))
		_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1, Ref: "before"})
		is.NoErr(err)
		time.Sleep(time.Second)
		r := &receivers{answer: map[string]func(int) (*http.Response, error){
			"hangs":     func(int) (*http.Response, error) { return nil, nil },
			"redirects": func(int) (*http.Response, error) { return answered(http.StatusFound), nil },
			"refuses": func(n int) (*http.Response, error) {
				if n <= 3 {
					return answered(http.StatusInternalServerError), nil
				}
				return answered(http.StatusOK), nil
			},
			"breaks": func(n int) (*http.Response, error) {
				if n == 1 {
					return nil, io.ErrUnexpectedEOF
				}
				return answered(http.StatusOK), nil
			},
		}}
		d := delivering(t, db, r, webhook.Endpoint{Name: "good"}, webhook.Endpoint{Name: "hangs"},
			webhook.Endpoint{Name: "redirects"}, webhook.Endpoint{Name: "refuses"}, webhook.Endpoint{Name: "breaks"},
			webhook.Endpoint{Name: "picky", Kinds: []imagegen.FeedKind{imagegen.FeedRevoked}})
		time.Sleep(2 * time.Second)
		for n := range 3 {
			_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1, Ref: fmt.Sprint(n)})
			is.NoErr(err)
		}
		_, err = db.Revoke(ctx, imagegen.Revocation{User: "alice", Credits: 2})
		is.NoErr(err)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		r.mu.Lock()
		good := slices.Clone(r.came["good"])
		is.Equal(len(good), 4) // what happened before the endpoint was there is not sent
		is.Equal(r.bodies[good[0]].Data.Ref, "0")
		is.Equal(r.came["picky"], good[3:])
		is.Equal(len(r.came["hangs"]), 1)
		r.mu.Unlock()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		r.mu.Lock()
		is.Equal(slices.Compact(slices.Clone(r.came["refuses"])), good)
		is.Equal(len(r.came["refuses"]), 7)
		is.Equal(r.came["breaks"], append([]string{good[0]}, good...))
		is.Equal(slices.Compact(slices.Clone(r.came["hangs"])), good[:1])
		r.mu.Unlock()
		is.Equal(len(d.Warnings()), 0)
		r.ahead.Store(int64(73 * time.Hour))
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(len(d.Warnings()), 2) // hangs and redirects
		r.mu.Lock()
		is.Equal(len(r.came["hangs"]), 5)
		delete(r.answer, "hangs")
		r.mu.Unlock()
		is.NoErr(webhook.SendAgain(ctx, db, "hangs", 0))
		is.True(errors.Is(webhook.SendAgain(ctx, db, "nobody", 0), imagegen.ErrNotFound))
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(slices.Compact(slices.Clone(r.came["hangs"])), good)
		is.Equal(len(d.Warnings()), 1)
	})
}

// The list shows each webhook without what may be secret: its latest deliveries, what waits, and its next try.
func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, ctx, db := is.New(t), t.Context(), memory.New(nil)
		is.NoErr(db.KeepFeed(ctx, true))
		delivering(t, db, &receivers{}, webhook.Endpoint{Name: "former"})
		r := &receivers{answer: map[string]func(int) (*http.Response, error){
			"refuses": func(int) (*http.Response, error) { return answered(http.StatusTeapot), nil },
		}}
		d := delivering(t, db, r, webhook.Endpoint{Name: "good"}, webhook.Endpoint{Name: "refuses",
			Kinds: []imagegen.FeedKind{imagegen.FeedGranted}})
		time.Sleep(2 * time.Second)
		for range 30 {
			_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
			is.NoErr(err)
		}
		_, err := db.Revoke(ctx, imagegen.Revocation{User: "alice", Credits: 2})
		is.NoErr(err)
		time.Sleep(3 * time.Second)
		status, _, err := d.Test(ctx, "refuses")
		is.NoErr(err)
		is.Equal(status, http.StatusTeapot)
		list := func(d *webhook.Deliverer) []admin.Webhook {
			all, err := webhook.List(ctx, db, d)
			is.NoErr(err)
			is.Equal(len(all), 3)
			return all
		}
		all := list(d)
		former, good, refuses := all[0], all[1], all[2]
		is.Equal(former.URL+former.Name, "former")
		is.Equal(good.URL, "https://good")
		is.Equal(len(good.Deliveries), 20) // the latest
		is.Equal(good.Deliveries[0].Type, imagegen.FeedRevoked)
		is.Equal(good.Deliveries[0].Number, good.Number)
		is.True(good.Deliveries[0].Accepted() && good.Waiting == 0 && good.Next.IsZero())
		is.Equal(refuses.Waiting, 30)
		is.Equal(refuses.Kinds, []imagegen.FeedKind{imagegen.FeedGranted})
		is.Equal(refuses.Next.Time, refuses.At.Add(5*time.Second))
		is.Equal(len(refuses.Deliveries), 2)
		is.Equal(refuses.Deliveries[0].Type, imagegen.FeedKind("webhook.test"))
		is.True(!refuses.Failing && !refuses.Deliveries[1].Accepted())

		r.ahead.Store(int64(73 * time.Hour))
		is.True(list(d)[2].Failing)
		other, err := webhook.New(webhook.Config{Feed: db, Endpoints: []webhook.Endpoint{{Name: "good",
			URL: "https://user.example/a-secret-path", Secrets: []imagegen.Secret{secret}}}})
		is.NoErr(err)
		of := list(other)[1] // a process that has delivered nothing yet knows the last try of the others
		is.Equal(of.URL, "https://user.example")
		is.Equal(len(of.Deliveries), 1)
		is.Equal(of.Deliveries[0].Event, good.Deliveries[0].Event)
		is.Equal(list(nil)[1].URL, "")
	})
}

// Of several processes one delivers at a time, and another goes on where it has stopped.
func TestOneDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, ctx, db := is.New(t), t.Context(), &inTurns{DB: memory.New(nil)}
		is.NoErr(db.KeepFeed(ctx, true))
		var one, other receivers
		delivering(t, db, &one, webhook.Endpoint{Name: "shop"})
		delivering(t, db, &other, webhook.Endpoint{Name: "shop"})
		time.Sleep(time.Second)
		for range 50 {
			_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
			is.NoErr(err)
			time.Sleep(5 * time.Second)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		all := append(slices.Clone(one.came["shop"]), other.came["shop"]...)
		slices.Sort(all)
		is.Equal(len(all), 50)
		is.Equal(len(slices.Compact(all)), 50)
	})
}

// inTurns is a store whose processes take turns.
type inTurns struct {
	*memory.DB
	answers time.Duration // how long a process waits to hear of its turn

	mu    sync.Mutex
	until time.Time
}

func (s *inTurns) Turn(_ context.Context, _ string, every time.Duration) (bool, error) {
	defer time.Sleep(s.answers)
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.until) {
		return false, nil
	}
	s.until = time.Now().Add(every)
	return true, nil
}

// No process delivers when its turn is over, though it heard late of it and the receiver is slow.
func TestTurnsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, ctx, db := is.New(t), t.Context(), &inTurns{DB: memory.New(nil), answers: 3 * time.Second}
		is.NoErr(db.KeepFeed(ctx, true))
		var busy atomic.Int32
		slow := func(int) (*http.Response, error) {
			if busy.Add(1) > 1 {
				t.Error("two processes deliver at once")
			}
			defer busy.Add(-1)
			time.Sleep(4 * time.Second)
			return answered(http.StatusOK), nil
		}
		all := make([]receivers, 3)
		for n := range all {
			all[n].answer = map[string]func(int) (*http.Response, error){"shop": slow}
			delivering(t, db, &all[n], webhook.Endpoint{Name: "shop"})
		}
		time.Sleep(10 * time.Second)
		for range 50 {
			_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
			is.NoErr(err)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		came := 0
		for n := range all {
			came += len(all[n].came["shop"])
		}
		is.Equal(came, 50)
	})
}

// A webhook begins with what happens from then on, also where its process's clock is wrong.
func TestBeginsNow(t *testing.T) {
	for _, ahead := range []time.Duration{-720 * time.Hour, 720 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			is, ctx, db := is.New(t), t.Context(), memory.New(nil)
			is.NoErr(db.KeepFeed(ctx, true))
			var r receivers
			r.ahead.Store(int64(ahead))
			for n := range 2 {
				_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1, Ref: fmt.Sprint(n)})
				is.NoErr(err)
				if n == 0 {
					delivering(t, db, &r, webhook.Endpoint{Name: "shop"})
					synctest.Wait()
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			is.Equal(len(r.came["shop"]), 1)
			is.Equal(r.bodies[r.came["shop"][0]].Data.Ref, "1")
		})
	}
}

// An event that was refused while the clock ran fast is tried again soon after it is right, and counts as failing from
// then on.
func TestRefusedByAFastClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, ctx, db := is.New(t), t.Context(), memory.New(nil)
		is.NoErr(db.KeepFeed(ctx, true))
		r := &receivers{answer: map[string]func(int) (*http.Response, error){
			"refuses": func(int) (*http.Response, error) { return answered(http.StatusInternalServerError), nil },
		}}
		r.ahead.Store(int64(365 * 24 * time.Hour))
		d := delivering(t, db, r, webhook.Endpoint{Name: "refuses"})
		time.Sleep(2 * time.Second)
		_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
		is.NoErr(err)
		time.Sleep(2 * time.Second)
		r.ahead.Store(0)
		time.Sleep(4 * 24 * time.Hour)
		synctest.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		is.True(len(r.came["refuses"]) > 5)
		is.Equal(len(d.Warnings()), 1)
	})
}

// Who sets a place back during a delivery has set it.
func TestSendAgainWhileDelivering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, ctx, db := is.New(t), t.Context(), memory.New(nil)
		is.NoErr(db.KeepFeed(ctx, true))
		var first atomic.Uint64 // the number of the first event
		r := &receivers{answer: map[string]func(int) (*http.Response, error){
			"shop": func(n int) (*http.Response, error) {
				if n == 3 {
					is.NoErr(webhook.SendAgain(ctx, db, "shop", first.Load()))
				}
				return answered(http.StatusOK), nil
			}}}
		delivering(t, db, r, webhook.Endpoint{Name: "shop"})
		time.Sleep(time.Second)
		for range 3 {
			_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
			is.NoErr(err)
		}
		events, err := db.Feed(ctx, 0, 3)
		is.NoErr(err)
		first.Store(events[0].Number)
		time.Sleep(time.Minute)
		synctest.Wait()
		a, b, c := events[0].ID, events[1].ID, events[2].ID
		is.Equal(r.came["shop"], []string{a, b, c, b, c})
	})
}

// A receiver leads nowhere inside, follows no redirect and fills no memory.
func TestHostileReceivers(t *testing.T) {
	is := is.New(t)
	inside := false
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside = true }))
	defer private.Close()
	flood := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for chunk := make([]byte, 1<<20); r.Context().Err() == nil; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer flood.Close()
	moved := httptest.NewServer(http.RedirectHandler(private.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	secrets := []imagegen.Secret{secret}
	d, err := webhook.New(webhook.Config{Feed: memory.New(nil), Endpoints: []webhook.Endpoint{
		{Name: "private", URL: strings.Replace(private.URL, "http:", "https:", 1), Secrets: secrets},
		{Name: "moved", URL: moved.URL, Secrets: secrets, Private: true},
		{Name: "flood", URL: flood.URL, Secrets: secrets, Private: true}}})
	is.NoErr(err)
	status, answer, err := d.Test(t.Context(), "private")
	is.NoErr(err)
	is.Equal(status, 0)
	is.True(strings.Contains(answer, "not a public address"))
	status, _, err = d.Test(t.Context(), "moved")
	is.NoErr(err)
	is.Equal(status, http.StatusTemporaryRedirect)
	is.True(!inside)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, answer, err = d.Test(t.Context(), "flood")
	runtime.ReadMemStats(&after)
	is.NoErr(err)
	is.Equal(status, http.StatusOK)
	is.Equal(len(answer), 1<<10)
	is.True(after.TotalAlloc-before.TotalAlloc < 16<<20)
	_, _, err = d.Test(t.Context(), "nobody")
	is.True(errors.Is(err, imagegen.ErrNotFound))
}
