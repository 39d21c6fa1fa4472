package disk_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

const model = "fake-1"

const price = imagegen.Credits(3)

// service is an engine over the storage, as the daemon runs it.
type service struct {
	db     *storage.DB
	engine *engine.Engine
}

func open(dir string, mustExist bool) (*service, error) {
	db, err := storage.Open(dir, &storage.Options{MinFree: 1 << 20, MustExist: mustExist})
	if err != nil {
		return nil, err
	}
	if err := db.KeepFeed(context.Background(), true); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	e, err := engine.New(engine.Config{
		Store: db, Ledger: db, Limits: engine.Limits{Concurrency: 3},
		// An image that a full disk does not take is kept for the Timeout.
		Attempts: engine.Attempts{Lease: 2 * time.Second, Timeout: 3 * time.Second,
			Backoff: []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}},
		Repeats: engine.Repeats{MaxWaiting: -1}, // on a disk that stays full the first call may have no answer for long

		Models: []engine.Model{{ID: model, Provider: &provider.Fake{},
			Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: price}}},
		Admit: admit,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &service{db, e}, nil
}

// overloading in a prompt is answered with 503.
const overloading = "[too much]"

func admit(_ context.Context, a engine.Admission) error {
	if strings.Contains(a.Request.Prompt, overloading) {
		return imagegen.ErrOverloaded
	}
	return nil
}

func (s *service) start() error { return s.engine.Start() }

func (s *service) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(s.engine.Stop(ctx), s.db.Close())
}

// client asks a service on behalf of a user, and says so on tape.
type client struct {
	*service
	user imagegen.UserID
	say  func(logRecord)
}

// tell says what was answered to w.
func (c *client) tell(w logRecord, k witness.Kind, err error) logRecord {
	w.Answer = k
	if err != nil {
		w.Detail = err.Error()
	}
	c.say(w)
	return w
}

func (c *client) grant(name string, credits imagegen.Credits) {
	w := logRecord{What: granting, Name: name, User: c.user, Credits: credits}
	c.say(w)
	_, err := c.db.Grant(context.Background(), imagegen.Grant{User: c.user, Credits: credits, Ref: name})
	switch {
	case err == nil:
		c.tell(w, witness.Succeeded, nil)
	case imagegen.Definite(err):
		c.tell(w, witness.Refused, err)
	default:
		c.tell(w, witness.Unknown, err)
	}
}

// do asks for images, and waits until they are there.
func (c *client) do(r request) logRecord {
	w := c.submit(r)
	if w.Answer == witness.Accepted {
		return c.await(w)
	}
	return w
}

// submit asks for images. The prompt is the name of what is asked for.
func (c *client) submit(r request) logRecord {
	w := logRecord{What: generating, Name: r.Prompt, User: c.user, Request: r}
	c.say(w)
	result, err := c.engine.As(c.user).Generate(context.Background(), r.generate())
	w.ID, w.Replayed = result.ID, result.Replayed
	if e, coded := errors.AsType[*imagegen.Error](err); coded {
		w.ID, w.Replayed = e.Generation, e.Replayed
	}
	switch kind := witness.KindOf(r.Async, err); {
	case kind == witness.Succeeded:
		return c.ended(w, result.Generation)
	case kind == witness.Unknown && w.ID == "": // an error that leaves anything in doubt names the generation
		return c.tell(w, witness.Refused, err)
	default:
		return c.tell(w, kind, err)
	}
}

// patience is how long a client looks after a queued generation. A disk that stays full may hold it
// up for good.
const patience = time.Second

// await asks again and again until a generation has ended.
func (c *client) await(w logRecord) logRecord {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < patience; <-tick.C {
		g, err := c.engine.As(c.user).Generation(context.Background(), w.ID)
		if err != nil {
			return w
		}
		if g.Status.Terminal() {
			return c.ended(w, g)
		}
	}
	return w
}

// ended reads the images and tells of a generation that has ended.
func (c *client) ended(w logRecord, g imagegen.Generation) logRecord {
	var sums [][]byte
	for _, i := range g.Images {
		f, err := c.engine.OpenImage(context.Background(), i.ID)
		sum, err := witness.Sum(f, err)
		if err != nil {
			return w
		}
		sums = append(sums, sum[:])
	}
	w.ID, w.Generation, w.Sums = g.ID, &g, sums
	if g.Status == imagegen.StatusFailed {
		return c.tell(w, witness.Failed, nil)
	}
	return c.tell(w, witness.Succeeded, nil)
}

func (c *client) erase(g imagegen.GenerationID) {
	w := logRecord{What: erasing, Name: "erase " + string(g), User: c.user, ID: g}
	c.say(w)
	err := c.engine.Erase(context.Background(), g)
	switch {
	case err == nil:
		c.tell(w, witness.Succeeded, nil)
	case errors.Is(err, imagegen.ErrInvalidRequest):
		c.tell(w, witness.Refused, err) // it has not ended
	default:
		c.tell(w, witness.Unknown, err) // half of it may have been done
	}
}
