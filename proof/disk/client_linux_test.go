package disk_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage"
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
	e, err := engine.New(engine.Config{
		Store: db, Ledger: db, Concurrency: 3, Lease: 2 * time.Second,
		MaxWaiting: -1, // on a disk that stays full the first call may have no answer for long
		Backoff:    []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond},
		Models:     []engine.Model{{ID: model, Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: price}}},
		Admit:      admit,
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

func (s *service) start() error { return s.engine.Start(context.Background()) }

func (s *service) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(s.engine.Stop(ctx), s.db.Close())
}

// client asks a service on behalf of a user, and says so on tape.
type client struct {
	*service
	user imagegen.UserID
	say  func(word)
}

// tell says what was answered to w.
func (c *client) tell(w word, t told, err error) word {
	w.Told = t
	if err != nil {
		w.Detail = err.Error()
	}
	c.say(w)
	return w
}

func (c *client) grant(name string, credits imagegen.Credits) {
	w := word{What: granting, Name: name, User: c.user, Credits: credits}
	c.say(w)
	_, err := c.db.Grant(context.Background(), imagegen.Grant{User: c.user, Credits: credits, Ref: name})
	switch {
	case err == nil:
		c.tell(w, done, nil)
	case imagegen.Definite(err):
		c.tell(w, refused, err)
	default:
		c.tell(w, unknown, err)
	}
}

// do asks for images, and waits until they are there.
func (c *client) do(r request) word {
	w := c.submit(r)
	if w.Told == accepted {
		return c.await(w)
	}
	return w
}

// submit asks for images. The prompt is the name of what is asked for.
func (c *client) submit(r request) word {
	w := word{What: generating, Name: r.Prompt, User: c.user, Request: r}
	c.say(w)
	result, err := c.engine.As(c.user).Generate(context.Background(), r.generate())
	w.ID, w.Replayed = result.ID, result.Replayed
	if e, coded := errors.AsType[*imagegen.Error](err); coded {
		w.ID, w.Replayed = e.Generation, e.Replayed
	}
	switch {
	case err != nil:
		return c.tell(w, answerTo(err, w.ID), err)
	case r.Async:
		return c.tell(w, accepted, nil)
	}
	return c.ended(w, result.Generation)
}

// answerTo is what an error of Generate tells. If it leaves anything in doubt, it names the generation.
func answerTo(err error, id imagegen.GenerationID) told {
	switch {
	case errors.Is(err, imagegen.ErrGenerationFailed):
		return failed
	case errors.Is(err, imagegen.ErrInsufficientCredits):
		return broke
	case errors.Is(err, imagegen.ErrOverloaded):
		return busy
	case errors.Is(err, imagegen.ErrInternal) && id != "":
		return unknown
	}
	return refused
}

// patience is how long a client looks after a queued generation. A disk that stays full may hold it
// up for good.
const patience = time.Second

// await asks again and again until a generation has ended.
func (c *client) await(w word) word {
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
func (c *client) ended(w word, g imagegen.Generation) word {
	hashes, err := hashesOf(c.engine, g)
	if err != nil {
		return w
	}
	w.ID, w.Generation, w.Hashes = g.ID, &g, hashes
	if g.Status == imagegen.StatusFailed {
		return c.tell(w, failed, nil)
	}
	return c.tell(w, done, nil)
}

// hashesOf reads the images of a generation.
func hashesOf(e *engine.Engine, g imagegen.Generation) (hashes []string, err error) {
	for _, i := range g.Images {
		f, err := e.OpenImage(context.Background(), i.ID)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", i.ID, err)
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("image %s: %w", i.ID, err)
		}
		hashes = append(hashes, fmt.Sprintf("%x", h.Sum(nil)))
	}
	return hashes, nil
}

func (c *client) erase(g imagegen.GenerationID) {
	w := word{What: erasing, Name: "erase " + string(g), User: c.user, ID: g}
	c.say(w)
	err := c.engine.Erase(context.Background(), g)
	switch {
	case err == nil:
		c.tell(w, done, nil)
	case errors.Is(err, imagegen.ErrInvalidRequest):
		c.tell(w, refused, err) // it has not ended
	default:
		c.tell(w, unknown, err) // half of it may have been done
	}
}
