package main_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// printedEvents are those that the command prints behind a place.
func printedEvents(t *testing.T, d *daemontest.Daemon, after uint64) (events []admin.Event) {
	t.Helper()
	for line := range strings.Lines(d.Admin("events", "--json", "--after", strconv.FormatUint(after, 10))) {
		var e admin.Event
		is.New(t).NoErr(json.Unmarshal([]byte(line), &e))
		events = append(events, e)
	}
	return events
}

// A daemon keeps a feed if it is asked to, which survives a kill, goes on beside it and ends when it is turned off.
func TestEvents(t *testing.T) {
	t.Parallel()
	is, ctx := is.New(t), t.Context()
	dir := t.TempDir()
	start := func(args ...string) *daemontest.Daemon {
		return daemontest.Start(t, daemontest.Options{DataDir: dir, Args: append(args, "--ops-addr", "127.0.0.1:0",
			"--ops-admin")})
	}
	d := start("--events")
	user, key := d.NewUser(10)
	says(t, d.Admin("user", "set", user, "--notify-below", "10"), "fewer than 10 credits")
	asked := daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a secret fox"})
	is.Equal(d.Call(asked).Status, http.StatusOK)
	asked.Body = map[string]any{"model": "fake-1", "prompt": "a secret [fake:refuse]"}
	d.Call(asked)
	events := printedEvents(t, d, 0)
	var kinds []imagegen.FeedKind
	balance := imagegen.Credits(0)
	for _, e := range events {
		kinds = append(kinds, e.Type)
		if e.Data.Credits != nil {
			balance += *e.Data.Credits
		}
	}
	is.Equal(kinds, []imagegen.FeedKind{imagegen.FeedUserCreated, imagegen.FeedGranted, imagegen.FeedKeyCreated,
		imagegen.FeedLow, imagegen.FeedAccepted, imagegen.FeedSucceeded, imagegen.FeedAccepted, imagegen.FeedFailed})
	is.Equal(int(balance), d.MustBalance(t, key))
	lines := d.Admin("events")
	says(t, lines, "credits.low", "balance=9 below=10")
	is.True(!strings.Contains(lines, "secret"))

	_, raw := opsKey(d, "read,users")
	c := operator(t, d, raw)
	p, err := admin.ListEvents.Do(ctx, c, admin.EventsQuery{After: events[1].Number, Limit: 2})
	is.NoErr(err)
	is.Equal(len(p.Events), 2)
	is.Equal(p.Next, events[3].Number)
	is.Equal(p.Events[0].ID, events[2].ID)
	_, err = admin.ListEvents.Do(ctx, c, admin.EventsQuery{Limit: 1001})
	refused(t, err, http.StatusBadRequest, "invalid_request")

	last := events[len(events)-1].Number
	d.Kill()
	d.Admin("credit", "grant", "3", "--user", user) // without a daemon
	d = start("--events")
	more := printedEvents(t, d, last)
	is.Equal(len(more), 1)
	is.Equal(more[0].Type, imagegen.FeedGranted)
	is.True(slices.ContainsFunc(printedEvents(t, d, 0), func(e admin.Event) bool { return e.ID == events[0].ID }))
	d.Kill()
	d = start()
	d.Admin("credit", "grant", "3", "--user", user)
	is.Equal(len(printedEvents(t, d, more[0].Number)), 0)
}

// Events arrive at a webhook, signed; what it refuses comes again, operators see its answer, and can test and repeat.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	is, ctx := is.New(t), t.Context()
	came := make(chan string, 100)
	var refusing atomic.Bool
	refusing.Store(true)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte("a key of the shop's, 32 bytes it"))
		fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body)
		var e admin.Event
		if err != nil || json.Unmarshal(body, &e) != nil ||
			r.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			t.Error("what came is not what was signed")
		}
		if refusing.Load() {
			http.Error(w, "closed for lunch", http.StatusInternalServerError)
			return
		}
		came <- string(e.Type)
	}))
	defer shop.Close()
	file := filepath.Join(t.TempDir(), "hooks.yaml")
	is.NoErr(os.WriteFile(file, fmt.Appendf(nil, "- name: shop\n  url: %s\n  private: true\n"+
		"  kinds: [credits.granted]\n  secrets: [whsec_%s]\n", shop.URL,
		base64.StdEncoding.EncodeToString([]byte("a key of the shop's, 32 bytes it"))), 0o600))
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--events", "--webhooks", file, "--ops-addr",
		"127.0.0.1:0", "--ops-admin"}})
	until(t, "the webhook has a place", func() bool { return strings.Contains(d.Admin("webhook", "list"), "shop") })
	user, _ := d.NewUser(10)
	until(t, "the answer is shown", func() bool {
		return strings.Contains(d.Admin("webhook", "list"), "closed for lunch")
	})
	refusing.Store(false)
	is.Equal(d.Admin("webhook", "test", "shop"), "status 200 \n")
	is.Equal(<-came, "webhook.test")
	d.Admin("webhook", "resend", "shop")
	is.Equal(<-came, "credits.granted")
	_, raw := opsKey(d, "all")
	_, err := admin.ResendWebhook.Do(ctx, operator(t, d, raw), admin.Resend{Name: "shop", After: 1})
	is.NoErr(err)
	is.Equal(<-came, "credits.granted")
	says(t, d.Admin("trail", "--act", "webhook"), "webhook.resend", "shop", "after=1")
	_, err = admin.TestWebhook.Do(ctx, operator(t, d, raw), "nowhere")
	refused(t, err, http.StatusNotFound, "notFound")
	d.Admin("credit", "grant", "3", "--user", user)
	is.Equal(<-came, "credits.granted")
	is.Equal(d.Terminate(10*time.Second), 0)
}
