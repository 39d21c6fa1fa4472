package survival_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
)

// longestOpen is how long a transaction of a host program stays open, at most.
const longestOpen = 2 * time.Minute

// host is another program on the database of a cluster, which orders images in transactions of its own.
type host struct {
	*cluster
	account *account
	user    imagegen.UserID
	pool    *pgxpool.Pool
	db      *postgres.DB
	web     *engine.Engine // does no work
}

// startHost starts a host program with an account of its own.
func (w *cluster) startHost() *host {
	w.Helper()
	h := &host{cluster: w, account: &account{granted: 1000}}
	h.account.name, h.account.key = w.nodes[0].current().NewUser(h.account.granted)
	w.users = append(w.users, h.account)
	config, err := pgxpool.ParseConfig(w.database.Address("postgres", w.database.Ports()))
	check(w.T, err)
	postgres.Watch(config)
	h.pool, err = pgxpool.NewWithConfig(w.Context(), config)
	check(w.T, err)
	h.db, err = postgres.Open(w.Context(), postgres.Config{Pool: h.pool})
	check(w.T, err)
	place, err := s3.ParseURL(w.images)
	check(w.T, err)
	place.Dir = w.TempDir()
	files, err := s3.Open(w.Context(), place)
	check(w.T, err)
	fake := &provider.Fake{}
	h.web, err = engine.New(engine.Config{Store: h.db, Ledger: h.db, Images: files, Spool: files, Work: engine.WorkNone,
		Models: []engine.Model{{ID: "fake-1", Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1},
			Provider: provider.Declared{Name: fake.Name(), Capabilities: fake.Capabilities()}.Provider()}}})
	check(w.T, err)
	check(w.T, h.web.Start())
	u, err := h.db.UserByName(w.Context(), h.account.name)
	check(w.T, err)
	h.user = u.ID
	w.Cleanup(func() {
		err := h.web.Stop(context.Background())
		if err := errors.Join(err, h.db.Close(), files.Close()); err != nil {
			w.Error(err)
		}
		h.pool.Close()
	})
	return h
}

// order orders one image after another until ctx ends. Some transactions are rolled back, others end with the
// connection.
func (h *host) order(ctx context.Context, r *rand.Rand) {
	for n := 0; ctx.Err() == nil; n++ {
		outcome, err := h.transaction(ctx, r, fmt.Sprintf("%s orders no. %d", h.account.name, n))
		if err != nil {
			outcome = "lost"
			<-time.After(span(r, sulking))
		}
		h.auditor.count("host transactions, " + outcome)
	}
}

func (h *host) transaction(ctx context.Context, r *rand.Rand, prompt string) (outcome string, err error) {
	always := context.WithoutCancel(ctx)
	user := h.web.As(h.user)
	p, err := user.Prepare(always, imagegen.GenerateRequest{Model: "fake-1", Prompt: prompt, N: 1 + r.IntN(2),
		Size: imagegen.Size{Width: 48, Height: 32}})
	if err != nil {
		return "", err
	}
	tx, err := h.pool.Begin(always)
	if err != nil {
		return "", err
	}
	defer tx.Rollback(always)
	if _, err := user.GenerateTx(always, h.db.In(tx), p); err != nil {
		return "", err
	}
	began := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(min(span(r, longestOpen), span(r, longestOpen))):
	}
	if r.IntN(4) == 0 {
		return "rolled back", nil
	}
	if err := tx.Commit(always); err != nil {
		return "", err
	}
	h.auditor.longest("seconds a host transaction was open", time.Since(began))
	return "committed", nil
}
