package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// class is a school with 20 credits and a key on behalf of its pupils.
type class struct {
	*harness
	school imagegen.User
	raw    string
}

func (h *harness) class(members int, each imagegen.KeyLimits) *class {
	h.Helper()
	ctx := h.Context()
	school, err := h.engine.Accounts().CreateUser(ctx, "school", "EDU")
	h.is.NoErr(err)
	_, err = h.db.Grant(ctx, imagegen.Grant{User: school.ID, Credits: 20})
	h.is.NoErr(err)
	raw, _, err := h.engine.Accounts().MintMembersKey(ctx, school.ID, "chat", time.Time{}, members, each)
	h.is.NoErr(err)
	return &class{h, school, raw.Reveal()}
}

// as is the session of a person; "": of nobody.
func (c *class) as(person string) (*engine.Session, error) {
	ctx := c.Context()
	if person != "" {
		ctx = account.WithPerson(ctx, account.Person{ID: person, Name: "Name of " + person})
	}
	return c.engine.Authenticate(ctx, c.raw)
}

func (c *class) pupil(person string) *engine.Session {
	c.Helper()
	s, err := c.as(person)
	c.is.NoErr(err)
	return s
}

// users are the names of all users but the school.
func (c *class) users() (names []string) {
	c.Helper()
	all, err := c.engine.Accounts().Users(c.Context())
	c.is.NoErr(err)
	for _, u := range all {
		if u.ID != c.school.ID {
			names = append(names, u.Name)
		}
	}
	return names
}

// People behind one key: each has generations and limits of their own, and the owner of the key pays.
func TestOnBehalf(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	c := h.class(2, imagegen.KeyLimits{Credits: 2})
	ctx := t.Context()
	zoe, ann := c.pupil("zoe"), c.pupil("ann")

	before, err := zoe.Balance(ctx)
	h.is.NoErr(err)
	h.is.Equal(cmp.Diff(imagegen.Balance{Credits: 2, AccountType: "EDU"}, before), "")
	page, err := zoe.Generations(ctx, imagegen.Query{})
	h.is.NoErr(err)
	h.is.Equal(len(page.Generations), 0)
	_, err = zoe.Quote(ctx, fox(imagegen.GenerateRequest{}))
	h.is.NoErr(err)
	h.is.Equal(c.users(), nil) // so far nothing was charged

	got, err := zoe.Generate(ctx, fox(imagegen.GenerateRequest{}))
	h.is.NoErr(err)
	h.is.Equal(got.Balance.Credits, imagegen.Credits(1))
	_, err = c.pupil(" zoe ").Generation(ctx, got.Generation.ID) // space around it does not count
	h.is.NoErr(err)
	_, err = ann.Generation(ctx, got.Generation.ID)
	h.is.True(errors.Is(err, imagegen.ErrNotFound))
	_, err = c.pupil("zoe").Generate(ctx, fox(imagegen.GenerateRequest{N: 2}))
	h.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	h.is.True(strings.Contains(err.Error(), "your account is limited to 2 credits in all; it has used 1"))
	_, err = ann.Generate(ctx, fox(imagegen.GenerateRequest{}))
	h.is.NoErr(err)
	h.is.Equal(c.users(), []string{"school/ann", "school/zoe"})
	u, err := h.engine.Accounts().User(ctx, zoe.User())
	h.is.NoErr(err)
	h.is.Equal(u.Display, "Name of zoe")

	_, err = c.pupil("eve").Generate(ctx, fox(imagegen.GenerateRequest{})) // the third of two
	h.is.True(errors.Is(err, imagegen.ErrChargeRefused))
	h.is.True(strings.Contains(err.Error(), "2 members"))
	h.is.Equal(len(c.users()), 2)
	h.audit()
}

// What makes or reads generations needs a person; what a client needs to set itself up does not.
func TestNobodyNamed(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	c := h.class(10, imagegen.KeyLimits{})
	ctx := t.Context()
	s := c.pupil("")
	_, err := s.Models(ctx)
	h.is.NoErr(err)
	b, err := s.Balance(ctx)
	h.is.NoErr(err)
	h.is.Equal(b.Credits, imagegen.Credits(20))
	_, err = s.Quote(ctx, fox(imagegen.GenerateRequest{}))
	h.is.NoErr(err)
	id := imagegen.NewIDs().Generation(time.Now())
	for name, call := range map[string]func() error{
		"Generate":    func() error { _, err := s.Generate(ctx, fox(imagegen.GenerateRequest{})); return err },
		"Generation":  func() error { _, err := s.Generation(ctx, id); return err },
		"Generations": func() error { _, err := s.Generations(ctx, imagegen.Query{}); return err },
		"Cancel":      func() error { _, err := s.Cancel(ctx, id); return err },
	} {
		if err := call(); !errors.Is(err, imagegen.ErrInvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := s.Generate(ctx, fox(imagegen.GenerateRequest{EndUser: "zoe"}))
	h.is.NoErr(err)
	_, err = c.pupil("zoe").Generation(ctx, got.Generation.ID)
	h.is.NoErr(err)
	_, err = c.pupil("zoe").Generate(ctx, fox(imagegen.GenerateRequest{EndUser: "zoe"}))
	h.is.NoErr(err)
	_, err = c.pupil("zoe").Generate(ctx, fox(imagegen.GenerateRequest{EndUser: "ann"}))
	h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	h.is.Equal(c.users(), []string{"school/zoe"})
}

// A request that names nobody, or two people, leaves no file in the spool.
func TestFilesOfNobody(t *testing.T) {
	var spool imagegentest.CountedSpool
	h := start(t, yieldImages(1, nil), spool.Watch)
	c := h.class(2, imagegen.KeyLimits{})
	for name, s := range map[string]*engine.Session{"": c.pupil(""), "ann": c.pupil("zoe")} {
		photo, err := s.StageReference(t.Context(), readerOf(pngOf(8, 8)), "photo")
		h.is.NoErr(err)
		mask, err := s.StageReference(t.Context(), readerOf(pngOf(8, 8)), "mask")
		h.is.NoErr(err)
		h.is.Equal(spool.Held(), 2)
		_, err = s.Generate(t.Context(), fox(imagegen.GenerateRequest{EndUser: name,
			References: []imagegen.Reference{photo}, Mask: mask}))
		h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
		h.is.Equal(spool.Held(), 0)
	}
}

// Names that nobody can have, and a flood of names for which nothing is charged, write nothing.
func TestForgedPeople(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	c := h.class(10, imagegen.KeyLimits{})
	ctx := t.Context()
	for _, name := range []string{" ", "a\nb", "a\x00b", "\xff", strings.Repeat("x", 129), "\u200b"} {
		_, err := c.as(name)
		h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	}
	ambiguous := account.WithPerson(ctx, account.Person{ID: "zoe", Ambiguous: true})
	_, err := h.engine.Authenticate(ambiguous, c.raw)
	h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	for i := range 50 {
		s := c.pupil(fmt.Sprint("flood", i))
		_, err := s.Generate(ctx, fox(imagegen.GenerateRequest{Model: "unknown"}))
		h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
		_, err = s.Generations(ctx, imagegen.Query{})
		h.is.NoErr(err)
	}
	_, err = h.db.Revoke(ctx, imagegen.Revocation{User: c.school.ID, Credits: 20})
	h.is.NoErr(err)
	_, err = c.pupil("zoe").Generate(ctx, fox(imagegen.GenerateRequest{}))
	h.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	h.is.Equal(c.users(), nil)
	_, err = h.db.Grant(ctx, imagegen.Grant{User: c.school.ID, Credits: 20})
	h.is.NoErr(err)
	for _, name := range []string{"../school", "school", "Zoë", c.school.Name + "/zoe"} {
		_, err = c.pupil(name).Generate(ctx, fox(imagegen.GenerateRequest{}))
		h.is.NoErr(err)
	}
	h.is.Equal(len(c.users()), 4)
	ordinary, _, err := h.engine.Accounts().MintKey(ctx, c.school.ID, "own", time.Time{})
	h.is.NoErr(err)
	s, err := h.engine.Authenticate(ambiguous, ordinary.Reveal()) // a key for its user: nobody else counts
	h.is.NoErr(err)
	h.is.Equal(s.User(), c.school.ID)
}

// A person who is disabled or removed is refused alone.
func TestPersonRefusedAlone(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	c := h.class(10, imagegen.KeyLimits{})
	ctx := t.Context()
	zoe, ann, bob := c.pupil("zoe"), c.pupil("ann"), c.pupil("bob")
	for _, s := range []*engine.Session{zoe, ann, bob} {
		_, err := s.Generate(ctx, fox(imagegen.GenerateRequest{}))
		h.is.NoErr(err)
	}
	h.is.NoErr(h.engine.Accounts().SuspendUser(ctx, bob.User()))
	_, suspended := c.pupil("bob").Generate(ctx, fox(imagegen.GenerateRequest{}))
	h.is.True(errors.Is(suspended, imagegen.ErrChargeRefused))
	h.is.True(strings.Contains(suspended.Error(), `"school/bob" is suspended, and nothing was charged`))
	h.is.NoErr(h.engine.Accounts().DisableUser(ctx, zoe.User()))
	_, err := c.as("zoe")
	h.is.True(errors.Is(err, imagegen.ErrChargeRefused) && strings.Contains(err.Error(), `"zoe" is disabled`))
	_, err = zoe.Generate(ctx, fox(imagegen.GenerateRequest{})) // a session from before
	h.is.True(errors.Is(err, imagegen.ErrChargeRefused))
	_, err = ann.Generate(ctx, fox(imagegen.GenerateRequest{}))
	h.is.NoErr(err)
	h.is.NoErr(h.engine.SetSponsor(ctx, ann.User(), "", imagegen.KeyLimits{}))
	_, err = c.as("ann")
	h.is.True(errors.Is(err, imagegen.ErrChargeRefused) && strings.Contains(err.Error(), `"ann" is not a member`))
	h.is.NoErr(h.engine.Accounts().DisableUser(ctx, c.school.ID))
	_, err = c.as("eve")
	h.is.True(errors.Is(err, imagegen.ErrInvalidKey))
}

// Work of a person who is disabled meanwhile ends as usual, whether it runs or waits: it is paid, and a caller who was
// there before is answered. Nobody can ask for it afterwards.
func TestPersonDisabledMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, slowly(time.Minute), func(c *engine.Config) { c.Limits.Concurrency = 1 })
		c := h.class(10, imagegen.KeyLimits{})
		ctx := t.Context()
		zoe, done := c.pupil("zoe"), make(chan error, 1)
		go func() {
			_, err := zoe.Generate(ctx, fox(imagegen.GenerateRequest{}))
			done <- err
		}()
		synctest.Wait()
		queued, err := c.pupil("zoe").Generate(ctx, fox(imagegen.GenerateRequest{Async: true}))
		h.is.NoErr(err)
		h.is.NoErr(h.engine.Accounts().DisableUser(ctx, zoe.User()))
		h.is.NoErr(<-done)
		for _, s := range []*engine.Session{zoe, c.pupil("ann")} {
			_, err = s.Await(ctx, queued.ID, time.Minute)
			h.is.True(err != nil)
		}
		time.Sleep(2 * time.Minute)
		r, err := h.engine.Record(ctx, queued.ID)
		h.is.NoErr(err)
		h.is.Equal(r.State, imagegen.StateSucceeded)
		b, err := h.engine.As(c.school.ID).Balance(ctx)
		h.is.NoErr(err)
		h.is.Equal(b.Credits, imagegen.Credits(18))
		_, err = c.as("zoe")
		h.is.True(errors.Is(err, imagegen.ErrChargeRefused))
		h.audit()
	})
}

// The owner of a key becomes a member, and can have none: people are refused as where the owner cannot pay.
func TestOwnerBecomesMember(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	c := h.class(10, imagegen.KeyLimits{})
	ctx := t.Context()
	_, err := h.db.Revoke(ctx, imagegen.Revocation{User: c.school.ID, Credits: 20})
	h.is.NoErr(err)
	town, err := h.engine.Accounts().CreateUser(ctx, "town", "")
	h.is.NoErr(err)
	h.is.NoErr(h.engine.SetSponsor(ctx, c.school.ID, town.ID, imagegen.KeyLimits{}))
	_, err = c.pupil("zoe").Generate(ctx, fox(imagegen.GenerateRequest{}))
	h.is.True(errors.Is(err, imagegen.ErrChargeRefused))
	h.is.True(strings.Contains(err.Error(), "has a sponsor itself"))
	h.is.Equal(len(c.users()), 1) // the town
}

// People who ask for the first time at once become one user each, and no more of them than the key admits.
func TestNewPeopleAtOnce(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	c := h.class(3, imagegen.KeyLimits{})
	var wg sync.WaitGroup
	for i := range 40 {
		s := c.pupil(fmt.Sprint("pupil", i%4))
		wg.Go(func() {
			_, err := s.Generate(t.Context(), fox(imagegen.GenerateRequest{}))
			if err != nil && !errors.Is(err, imagegen.ErrChargeRefused) && !errors.Is(err,
				imagegen.ErrInsufficientCredits) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	h.is.Equal(len(c.users()), 3)
	h.audit()
}

// A request that is refused makes nobody a member: beyond the limits of a new one, without a place, or while the owner
// of the key is suspended.
func TestRefusedPeopleAreNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, slowly(time.Minute), func(c *engine.Config) { c.Limits.Concurrency = 1 })
		c := h.class(10, imagegen.KeyLimits{Credits: 2})
		ctx := t.Context()
		_, err := c.pupil("greedy").Generate(ctx, fox(imagegen.GenerateRequest{N: 3}))
		h.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
		go h.engine.As(alice).Generate(ctx, fox(imagegen.GenerateRequest{})) // takes the slot
		synctest.Wait()
		_, err = c.pupil("late").Generate(ctx, fox(imagegen.GenerateRequest{}))
		h.is.True(errors.Is(err, imagegen.ErrOverloaded))
		time.Sleep(time.Minute)
		h.is.NoErr(h.engine.Accounts().SuspendUser(ctx, c.school.ID))
		_, err = c.pupil("zoe").Generate(ctx, fox(imagegen.GenerateRequest{}))
		h.is.True(errors.Is(err, imagegen.ErrChargeRefused))
		h.is.Equal(c.users(), nil)
	})
}

// A member with as many requests at once as it may have learns that before it waits for a slot.
func TestMemberAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, slowly(time.Minute), func(c *engine.Config) { c.Limits.Concurrency = 1 })
		c := h.class(10, imagegen.KeyLimits{Concurrent: 1})
		zoe := c.pupil("zoe")
		go zoe.Generate(t.Context(), fox(imagegen.GenerateRequest{}))
		synctest.Wait()
		began := time.Now()
		_, err := c.pupil("zoe").Generate(t.Context(), fox(imagegen.GenerateRequest{}))
		h.is.True(errors.Is(err, imagegen.ErrRateLimited) && strings.Contains(err.Error(), "your account may have 1"))
		h.is.Equal(time.Since(began), time.Duration(0))
		time.Sleep(time.Minute)
	})
}

// A person who leaves while work runs does not see what the former sponsor has, and gets no former answer.
func TestMemberLeavesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, slowly(time.Minute))
		c := h.class(10, imagegen.KeyLimits{})
		ctx := t.Context()
		zoe, done := c.pupil("zoe"), make(chan imagegen.Result, 1)
		go func() {
			got, err := zoe.Generate(ctx, fox(imagegen.GenerateRequest{IdempotencyKey: "k"}))
			h.is.NoErr(err)
			done <- got
		}()
		synctest.Wait()
		still := c.pupil("zoe") // a session from before
		h.is.NoErr(h.engine.SetSponsor(ctx, zoe.User(), "", imagegen.KeyLimits{}))
		h.is.Equal((<-done).Balance, nil)
		for _, key := range []string{"k", "other"} { // also for what was answered before
			_, err := still.Generate(ctx, fox(imagegen.GenerateRequest{IdempotencyKey: key}))
			h.is.True(errors.Is(err, imagegen.ErrChargeRefused) && strings.Contains(err.Error(),
				`"zoe" is not a member`))
		}
		h.audit()
	})
}

// What a person asks for first may be with a photo that lies on its side: its copy is the owner's to pay.
func TestNewPersonWithATurnedReference(t *testing.T) {
	p := yieldImages(1, nil)
	p.caps.Orientation = false
	h := start(t, p)
	c := h.class(10, imagegen.KeyLimits{})
	file := imagegentest.Turned(imagegen.FormatJPEG, 6, 48, 64)
	_, err := c.pupil("zoe").Generate(t.Context(),
		fox(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(file)}}))
	h.is.NoErr(err)
	h.is.Equal(c.users(), []string{"school/zoe"})
}
