// Package webhook sends the events of a feed to addresses of the operator's, signed as Standard Webhooks
// (standardwebhooks.com) says.
//
// Each endpoint gets its events one after the other, each at least once and always under the same identifier. One that
// is not accepted is tried again, after pauses that grow, and those behind it wait: so the place of an endpoint in the
// feed is all that is kept. Endpoints do not wait for each other. Of several processes on one store, one delivers to an
// endpoint at a time.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/internal/guard"
)

const (
	timeLimit  = 5 * time.Second // of one try, from the connection to the answer
	maxAnswer  = 1 << 10         // bytes of an answer that are kept
	readAtOnce = 100
	keptInMind = 20          // of the latest deliveries to each endpoint
	lookAgain  = time.Second // for what is new
	turnLength = 30 * time.Second
	turnMargin = time.Second // for clocks that run at different paces

	// failingAfter is how long the same event was refused when an endpoint counts as failing. It is tried on, after the
	// last of the pauses each time.
	failingAfter = 3 * 24 * time.Hour
)

// pauses are those between tries of the same event.
var pauses = []time.Duration{5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	5 * time.Hour, 10 * time.Hour}

// Endpoint is an address that gets events.
type Endpoint struct {
	Name string // under which its place is kept, so a new name begins anew
	URL  string // https or, if Private, also http
	// Secrets sign what is sent, each as whsec_ and 24 to 64 bytes in base64. Two at once let a receiver move from one
	// to the other.
	Secrets []imagegen.Secret
	Kinds   []imagegen.FeedKind // nil: all
	Private bool                // it may lie in a private network
}

// Config configures a Deliverer. Without a comment a field is required.
type Config struct {
	Feed      imagegen.FeedKeeper // if it is an imagegen.TurnTaker too, several processes share the endpoints
	Endpoints []Endpoint
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger     // nil: silent
}

// Deliverer delivers to endpoints while Run runs. It is safe for concurrent use.
type Deliverer struct {
	feed      imagegen.FeedKeeper
	turns     imagegen.TurnTaker // nil: every turn is this process's
	endpoints []*endpoint
	now       func() time.Time
	log       *slog.Logger
}

// endpoint is an Endpoint at work.
type endpoint struct {
	Endpoint
	secrets [][]byte
	client  *http.Client

	mu      sync.Mutex       // guards what follows
	failing time.Time        // since when the present event is refused; zero: it is not
	latest  []admin.Delivery // newest first
}

// New returns a Deliverer, or what is wrong with an endpoint, without its secret.
func New(c Config) (*Deliverer, error) {
	d := &Deliverer{feed: c.Feed, now: c.Now, log: cmp.Or(c.Log, slog.New(slog.DiscardHandler))}
	d.turns, _ = c.Feed.(imagegen.TurnTaker)
	if d.now == nil {
		d.now = time.Now
	}
	for _, e := range c.Endpoints {
		p, err := newEndpoint(e)
		if err != nil {
			return nil, fmt.Errorf("webhook %q: %w", e.Name, err)
		}
		if slices.ContainsFunc(d.endpoints, func(o *endpoint) bool { return o.Name == e.Name }) {
			return nil, fmt.Errorf("webhook %q: there are two of that name", e.Name)
		}
		d.endpoints = append(d.endpoints, p)
	}
	return d, nil
}

func newEndpoint(e Endpoint) (*endpoint, error) {
	u, err := url.Parse(e.URL)
	switch {
	case e.Name == "" || len(e.Name) > 255:
		return nil, errors.New("a name is 1 to 255 bytes")
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, errors.New("the URL has to be one such as https://shop.example.com/hooks")
	case u.Scheme != "https" && (u.Scheme != "http" || !e.Private):
		return nil, errors.New("the URL has to be https, or http if it is private")
	case len(e.Secrets) == 0:
		return nil, errors.New("it needs a secret")
	}
	for _, k := range e.Kinds {
		if !slices.Contains(imagegen.FeedKinds, k) {
			return nil, fmt.Errorf("there is no event %q; there are %v", k, imagegen.FeedKinds)
		}
	}
	p := &endpoint{Endpoint: e}
	for _, s := range e.Secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.Reveal(), "whsec_"))
		if err != nil || len(key) < 24 || len(key) > 64 {
			return nil, errors.New("a secret is whsec_ and 24 to 64 bytes in base64, such as openssl rand -base64 32 makes")
		}
		p.secrets = append(p.secrets, key)
	}
	transport := guard.Transport(e.Private)
	transport.MaxIdleConnsPerHost = 1
	p.client = &http.Client{Transport: transport, Timeout: timeLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return p, nil
}

// Run delivers until ctx ends, and returns when the last try has ended.
func (d *Deliverer) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, e := range d.endpoints {
		all.Go(func() { d.runEndpoint(ctx, e) })
	}
	all.Wait()
}

// runEndpoint delivers to one endpoint whenever it is this process's turn.
func (d *Deliverer) runEndpoint(ctx context.Context, e *endpoint) {
	for ctx.Err() == nil {
		end, mine := time.Now().Add(turnLength-turnMargin), true // the turn counts before the answer comes
		if d.turns != nil {
			var err error
			if mine, err = d.turns.Turn(ctx, "webhook "+e.Name, turnLength); err != nil {
				mine = false
			}
		}
		if mine {
			d.deliverUntil(ctx, e, end)
		} else {
			pause(ctx, lookAgain)
		}
	}
}

// deliverUntil delivers until the end of a turn, when another process may begin. No try begins that might last longer.
func (d *Deliverer) deliverUntil(ctx context.Context, e *endpoint, end time.Time) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	for time.Until(end) > timeLimit && ctx.Err() == nil {
		more, err := d.deliverNext(ctx, e)
		if err != nil && ctx.Err() == nil {
			d.log.WarnContext(ctx, "events could not be read, or a place not be kept", "webhook", e.Name, "error", err)
		}
		if err != nil || !more {
			pause(ctx, lookAgain)
		}
	}
}

// deliverNext sends the next event that the endpoint wants, if it is due, and keeps the place. more: others may follow
// at once. The place is read anew each time, since somebody may have set it back; who does so during a try has set it.
func (d *Deliverer) deliverNext(ctx context.Context, e *endpoint) (more bool, err error) {
	from, err := d.place(ctx, e)
	// A try later than now was dated by a clock that has been corrected since, so it keeps nobody waiting.
	waited := d.now().Sub(from.At)
	if err != nil || from.Tries > 0 && waited > -turnLength && waited < pauseAfter(from.Tries) {
		return false, err
	}
	p := from
	events, err := d.feed.Feed(ctx, p.Number, readAtOnce)
	if err != nil || len(events) == 0 {
		return false, err
	}
	for _, event := range events {
		if e.wants(event) {
			p = d.try(ctx, e, p, event)
			break
		}
		p.Number = event.Number
	}
	if ctx.Err() != nil { // it was broken off: the try says nothing about the endpoint
		return false, nil
	}
	set, err := d.feed.SetFeedPlace(ctx, from, p)
	if set {
		e.note(p)
	}
	return !set || p.Tries == 0, err
}

// wants reports whether an endpoint gets an event. What it may have lost concerns each.
func (e *endpoint) wants(event imagegen.FeedEvent) bool {
	return e.Kinds == nil || event.Kind == imagegen.FeedLost || slices.Contains(e.Kinds, event.Kind)
}

// place is that of an endpoint. One that has none begins with what happens from now on, by the numbers of the feed,
// since this process's clock may be wrong.
func (d *Deliverer) place(ctx context.Context, e *endpoint) (imagegen.FeedPlace, error) {
	all, err := d.feed.FeedPlaces(ctx)
	if err != nil {
		return imagegen.FeedPlace{}, err
	}
	for _, p := range all {
		if p.Reader == e.Name {
			e.note(p)
			return p, nil
		}
	}
	p := imagegen.FeedPlace{Reader: e.Name}
	if p.Number, err = d.feed.FeedEnd(ctx); err != nil {
		return p, err
	}
	if set, err := d.feed.SetFeedPlace(ctx, imagegen.FeedPlace{}, p); err != nil || set {
		return p, err
	}
	return d.place(ctx, e) // another process was faster
}

// try sends an event, and returns the place afterwards.
func (d *Deliverer) try(ctx context.Context, e *endpoint, p imagegen.FeedPlace,
	event imagegen.FeedEvent) imagegen.FeedPlace {
	id := cmp.Or(event.ID, fmt.Sprint("lost_", event.To))
	status, answer := e.send(ctx, id, admin.ViewEvent(event), d.now())
	p.Event, p.At, p.Status, p.Answer = id, d.now(), status, answer
	if status/100 == 2 {
		p.Number, p.Tries, p.Since = event.Number, 0, time.Time{}
		return p
	}
	if p.Tries++; p.Tries == 1 || p.Since.After(p.At) {
		p.Since = p.At
	}
	return p
}

// send sends an event once, and keeps the delivery in mind. status 0: there was no answer, and answer says why.
func (e *endpoint) send(ctx context.Context, id string, event admin.Event, now time.Time) (status int, answer string) {
	status, answer = e.post(ctx, id, event, now)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.latest = slices.Insert(e.latest, 0, admin.Delivery{At: admin.Time{Time: now}, Number: event.Number, Event: id,
		Type: event.Type, WebhookAnswer: admin.WebhookAnswer{Status: status, Answer: answer}})
	e.latest = e.latest[:min(len(e.latest), keptInMind)]
	return status, answer
}

func (e *endpoint) post(ctx context.Context, id string, event admin.Event, now time.Time) (status int, answer string) {
	body, err := json.Marshal(event)
	if err != nil {
		return 0, err.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	at := strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "imagegend")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", at)
	req.Header.Set("webhook-signature", e.signatures(id, at, body))
	resp, err := e.client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the URL, whose path may be a secret
		}
		return 0, err.Error()
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // what broke off is cut off
	return resp.StatusCode, strings.ToValidUTF8(string(said), "")
}

// signatures are those by each secret, parted by spaces.
func (e *endpoint) signatures(id, at string, body []byte) string {
	var all []string
	for _, key := range e.secrets {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}

func (e *endpoint) note(p imagegen.FeedPlace) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failing = p.Since
}

// Warnings returns a warning for each endpoint that is failing. It reads nothing but memory.
func (d *Deliverer) Warnings() (all []imagegen.Notice) {
	for _, e := range d.endpoints {
		e.mu.Lock()
		since := e.failing
		e.mu.Unlock()
		if !since.IsZero() && d.now().Sub(since) >= failingAfter {
			all = append(all, imagegen.Notice{Code: "webhook", Detail: fmt.Sprintf(
				"webhook %q has accepted nothing since %s; its place is kept for as long as events are", e.Name,
				since.UTC().Format(time.RFC3339))})
		}
	}
	return all
}

// Test sends an event of the type "webhook.test" to an endpoint, once, and returns its answer. ErrNotFound: there is no
// endpoint of that name.
func (d *Deliverer) Test(ctx context.Context, name string) (status int, answer string, err error) {
	for _, e := range d.endpoints {
		if e.Name == name {
			now := d.now()
			id := fmt.Sprint("test_", now.UnixNano())
			event := admin.Event{ID: id, Type: "webhook.test", Timestamp: admin.Time{Time: now}}
			status, answer = e.send(ctx, id, event, now)
			return status, answer, nil
		}
	}
	return 0, "", imagegen.ErrNotFound
}

// SendAgain has an endpoint get everything behind a number again; 0: it tries at once what the endpoint has refused.
// ErrNotFound: no place is kept under that name.
func SendAgain(ctx context.Context, feed imagegen.FeedKeeper, name string, after uint64) error {
	for {
		all, err := feed.FeedPlaces(ctx)
		if err != nil {
			return err
		}
		n := slices.IndexFunc(all, func(p imagegen.FeedPlace) bool { return p.Reader == name })
		if n < 0 {
			return imagegen.ErrNotFound
		}
		to := imagegen.FeedPlace{Reader: name, Number: cmp.Or(after, all[n].Number)}
		if set, err := feed.SetFeedPlace(ctx, all[n], to); err != nil || set {
			return err
		} // else a delivery has ended meanwhile
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
