package console_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// works is an Operations with the status that a test sets.
type works struct {
	mu     sync.Mutex
	status console.Status
	audits chan error // what the audits under way answer
	asked  int
}

func (w *works) Status(context.Context) (console.Status, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status, nil
}

func (w *works) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	w.mu.Lock()
	w.asked++
	w.mu.Unlock()
	err := <-w.audits
	if err == errPanic {
		panic(err)
	}
	return imagegen.AuditReport{}, errors.Join(err, ctx.Err())
}

func (w *works) ConfirmClock(context.Context) error { return nil }

var errPanic = errors.New("a panic")

func TestSystem(t *testing.T) {
	w := &works{}
	s := open(t, func(c *console.Config) { c.Operations = w })
	v := s.operator()
	alice := s.newcomer("alice")
	w.status = console.Status{Version: "v1.2.3", Started: s.clock.Now().Add(-25 * time.Hour), Queued: 7, Running: 3,
		Slots: 16, OpenCharges: 30, Charges: []console.OpenCharge{{Generation: "gen_1", User: alice.ID, Credits: 4,
			Since: s.clock.Now().Add(-90 * time.Second)},
			{Generation: "gen_2", User: "a customer", Credits: 1, Since: s.clock.Now()}},
		Disk: console.Disk{Free: 3 << 29, Total: 10 << 30, Reserve: 64 << 20},
		Providers: []engine.ProviderHealth{{Model: "m-1", Provider: "fake", At: s.clock.Now(), Healthy: true,
			Load: engine.ModelLoad{Running: 12, Bound: 19, Most: 64}},
			{Model: "m-2", Provider: "router", At: s.clock.Now(), Detail: "unavailable: 503",
				Members: []imagegen.MemberHealth{{Name: "openai", Detail: "it was rate-limited"},
					{Name: "bfl", Healthy: true}}},
			{Model: "m-3", Provider: "fal"}}}
	a := v.get("system")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("v1.2.3", "1 day 1 h", "<strong>7</strong>", "of 16 at once", "oldest 1 min 30 s", "1.5 GiB",
		"of 10.0 GiB", ">alice</a>", "a customer", "The 2 oldest of 30.", "healthy", "12 of 19", "64 at other times",
		"unavailable: 503; openai: it was rate-limited<", "not used yet", "None is known yet.", ">ready<"))
	s.is.True(!a.has("below", "hx-get"))

	w.status.NotReady, w.status.Disk.Free, w.status.Charges, w.status.OpenCharges = "the disk is full", 1<<20, nil, 0
	s.is.True(v.get("system").has("No work is taken: the disk is full", "below 64.0 MiB",
		"None: whatever was charged is settled.", "takes no work"))

	s.is.True(!v.get("system").has("dispute"))
	w.status.Disputes, w.status.Disputed = 3,
		[]console.Disputed{{OpenCharge: console.OpenCharge{Generation: "gen_9", User: alice.ID, Credits: 4,
			Since: s.clock.Now()}, Reason: "<settled before>"}}
	s.is.True(v.get("system").has("Charges in dispute", "gen_9", "&lt;settled before&gt;", ">alice</a>",
		"The 1 oldest of 3.", "generation resolve"))
	w.status.Disputes, w.status.Disputed = 0, nil

	w.status.LastAudit = &engine.Audit{At: s.clock.Now(), Duration: time.Second,
		Report: imagegen.AuditReport{Entries: 1, Images: 2}}
	s.is.True(v.get("system").has("clean</span>", "in 1 s", "1 entry of the journal", "2 images"))
	w.status.LastAudit.Report = imagegen.AuditReport{Violations: []imagegen.Violation{{Rule: "journal chain",
		Subject: "<7>", Detail: "broken"}}, More: 9}
	s.is.True(v.get("system").has("10 violations", "journal chain", "&lt;7&gt;"))
	w.status.LastAudit = &engine.Audit{Err: errors.New("no space")}
	s.is.True(v.get("system").has("It could not be carried out: no space"))

	w.status.Version, w.status.Started, w.status.Disk = "", time.Time{}, console.Disk{}
	a = v.get("system") // what the program does not tell is not shown
	s.is.True(!a.has("Disk free") && !a.has("Version") && !a.has("Up for"))
}

// An audit runs in the background, and only one at a time.
func TestAudit(t *testing.T) {
	w := &works{audits: make(chan error)}
	s := open(t, func(c *console.Config) { c.Operations = w })
	v := s.operator()
	for i, outcome := range []error{nil, errors.New("no space"), errPanic} {
		s.is.True(v.follow(v.post("system/audit")).has("An audit has begun.", "under way</span>",
			`hx-get="/console/system/audit"`))
		s.is.True(v.follow(v.post("system/audit")).has("An audit is under way already.")) // a second press
		a := v.get("system/audit", "HX-Request", "true")
		s.is.True(a.has(`<article id="audit" hx-get=`, "under way"))
		s.is.True(!a.has("<html", "Run an audit"))
		w.audits <- outcome
		for v.get("system/audit").has("under way</span>") {
			time.Sleep(time.Millisecond)
		}
		s.is.True(v.get("system").has("Run an audit"))
		s.is.Equal(w.asked, i+1)
	}
}

func TestNoOperations(t *testing.T) {
	s := open(t)
	v := s.operator()
	s.is.Equal(v.get("system").StatusCode, http.StatusNotFound)
	s.is.Equal(v.post("system/audit").StatusCode, http.StatusNotFound)
	s.is.Equal(v.get("system/clock").StatusCode, http.StatusNotFound)
	s.is.Equal(v.post("system/clock").StatusCode, http.StatusNotFound)
	s.is.True(!v.get("users").has("/console/system"))
}
