package imagegentest

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// aging is one of everything that ends by its age, of a user of its own.
type aging struct {
	user   imagegen.UserID
	ended  imagegen.GenerationID // with the idempotency key "k"
	waits  imagegen.GenerationID // of a model that nobody has
	signIn [32]byte
}

// makeAging makes one of everything, by the clock as it is.
func (l *leap) makeAging(u imagegen.UserID) aging {
	l.Helper()
	ctx, now := l.Context(), l.db.Now().UTC().Truncate(time.Millisecond)
	l.grant(imagegen.Grant{User: u, Credits: 100})
	a := aging{user: u, signIn: sha256.Sum256([]byte(u))}
	a.ended = l.generate(u).ID

	r, err := l.db.CreateCharged(ctx, imagegen.Record{Progress: imagegen.Progress{State: imagegen.StateCharging},
		Intent: imagegen.Intent{ID: imagegen.NewIDs().Generation(now), User: u, Model: "gone", Prompt: "a fox", N: 1,
			Size: imagegen.Size{Width: 1024, Height: 1024}, Quality: "auto", Effort: "auto", Ratio: "1:1", Tier: "1K",
			Price: 1, Async: true, CreatedAt: now}}, time.Minute)
	l.is.NoErr(err)
	a.waits = r.ID

	l.is.True(!l.joins(u))
	l.is.True(l.joins(u)) // the answer that was not received
	_, err = l.ask(u, "[fake:refuse]")
	l.is.True(err != nil)
	_, err = l.ask(u, "a fox")
	l.is.True(errors.Is(err, imagegen.ErrRateLimited))
	l.is.NoErr(l.db.CreateSignIn(ctx, account.SignIn{Hash: a.signIn, User: u, CreatedAt: now, SeenAt: now}))
	l.is.NoErr(l.db.Note(ctx, account.TrailRow{Act: "test.aging"}))

	// What was charged just now is in the usage of today.
	usage, err := l.engine.As(u).Usage(ctx, imagegen.UsageQuery{})
	l.is.NoErr(err)
	l.is.Equal(len(usage.Rows), 1)
	l.is.Equal(usage.Rows[0].Generations, 4)
	return a
}

func (l *leap) ask(u imagegen.UserID, prompt string) (imagegen.Result, error) {
	return l.engine.As(u).Generate(l.Context(), imagegen.GenerateRequest{Model: Model, Prompt: prompt})
}

// joins makes a call whose answer its caller does not receive, and reports whether it got the answer of an earlier one.
func (l *leap) joins(u imagegen.UserID) bool {
	l.Helper()
	s := l.engine.As(u)
	g, err := s.Generate(l.Context(), imagegen.GenerateRequest{Model: Model, Prompt: "a hen",
		Join: &imagegen.JoinOptions{}})
	l.is.NoErr(err)
	s.ReportDelivery(g.ID, false)
	return g.Replayed
}

// allEnds lets a day pass after a correction of the clock, in which everything ends that was made before and since.
func (l *leap) allEnds(all ...aging) {
	l.Helper()
	ctx := l.Context()
	all = append(all, l.makeAging("since"))
	time.Sleep(31 * time.Minute)
	l.is.NoErr(l.db.EndSignInsAged(ctx, 30*time.Minute, 12*time.Hour))
	for _, a := range all {
		_, err := l.db.SignIn(ctx, a.signIn)
		l.is.True(errors.Is(err, imagegen.ErrNotFound))
	}
	time.Sleep(30 * time.Minute)
	for _, a := range all {
		l.is.True(!l.joins(a.user))
		_, err := l.ask(a.user, "a fox")
		l.is.NoErr(err)
	}
	// a clock that was a little fast may have dated things that much later
	time.Sleep(imagegen.IdempotencyKeyLifetime + 2*time.Hour)
	for _, a := range all {
		s := l.engine.As(a.user)
		_, err := s.Generation(ctx, a.ended)
		l.is.True(errors.Is(err, imagegen.ErrNotFound))
		l.is.True(!l.generate(a.user).Replayed)
		r, err := l.db.Generation(ctx, a.waits)
		l.is.NoErr(err)
		l.is.True(r.State == imagegen.StateFailed || r.State == imagegen.StateErased)
	}
	p, err := l.db.Trail(ctx, account.TrailQuery{Act: "test.aging", Limit: 10})
	l.is.NoErr(err)
	l.is.Equal(len(p.Rows), 0)
}
