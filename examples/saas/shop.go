package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
)

// shop is the web process.
type shop struct {
	pool   *pgxpool.Pool
	db     *postgres.DB
	images *engine.Engine
}

func serve(ctx context.Context, l net.Listener, s *shop) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", s.postOrder)
	mux.HandleFunc("GET /orders/{id}", s.picture)
	server, ended := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}, make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Shutdown(context.WithoutCancel(ctx))
	}
}

// customer is who orders. A shop of your own asks its sign-in; each customer of this one has 10 credits to begin with.
func (s *shop) customer(r *http.Request) (imagegen.UserID, error) {
	u := imagegen.UserID(r.FormValue("customer"))
	if u == "" {
		u = "alice"
	}
	_, err := s.db.Grant(r.Context(), imagegen.Grant{User: u, Credits: 10, Ref: "welcome " + string(u)})
	return u, err
}

// postOrder takes an order. What a browser sends again, with the same order_key, gets the order that there is.
func (s *shop) postOrder(w http.ResponseWriter, r *http.Request) {
	u, err := s.customer(r)
	if err != nil {
		answer(w, err)
		return
	}
	q := imagegen.GenerateRequest{Model: "fake-1", Prompt: r.FormValue("prompt"),
		Size: imagegen.Size{Width: 256, Height: 256}, IdempotencyKey: r.FormValue("order_key")}
	if photo, _, err := r.FormFile("photo"); err == nil {
		defer photo.Close()
		staged, err := s.images.As(u).StageReference(r.Context(), photo, "photo")
		if err != nil {
			answer(w, err)
			return
		}
		q.References = append(q.References, staged)
	}
	id, err := s.order(r.Context(), u, r.FormValue("item"), q)
	if err != nil {
		answer(w, err)
		return
	}
	fmt.Fprintf(w, "/orders/%d\n", id)
}

// order makes an order, its charge and its queued image one transaction, and repeats that where it was in the way of
// another one.
func (s *shop) order(ctx context.Context, u imagegen.UserID, item string, q imagegen.GenerateRequest) (id int64,
	err error) {
	customer := s.images.As(u)
	prepared, err := customer.Prepare(ctx, q) // takes as long as it takes: no transaction is open yet
	if err != nil {
		return 0, err
	}
	for range 5 {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			made, err := customer.GenerateTx(ctx, s.db.In(tx), prepared)
			if err != nil {
				return err
			}
			if made.Replayed {
				return tx.QueryRow(ctx, `select id from shop.orders where generation = $1`, string(made.ID)).Scan(&id)
			}
			return tx.QueryRow(ctx, `insert into shop.orders (customer, item, generation) values ($1, $2, $3) returning id`,
				string(u), item, string(made.ID)).Scan(&id)
		})
		p, failed := errors.AsType[*pgconn.PgError](err)
		if !failed || p.Code != "40001" && p.Code != "40P01" {
			break
		}
	}
	return id, err
}

// picture waits for the picture of an order, which any worker may make, and sends it.
func (s *shop) picture(w http.ResponseWriter, r *http.Request) {
	var u, generation string
	err := s.pool.QueryRow(r.Context(), `select customer, generation from shop.orders where id::text = $1`,
		r.PathValue("id")).
		Scan(&u, &generation)
	if errors.Is(err, pgx.ErrNoRows) {
		err = imagegen.ErrNotFound
	}
	var g imagegen.Generation
	customer := s.images.As(imagegen.UserID(u))
	for err == nil && !g.Status.Terminal() {
		g, err = customer.Await(r.Context(), imagegen.GenerationID(generation), imagegen.MaxAwait)
	}
	if err == nil && g.Failure != nil {
		err = g.Failure
	}
	if err != nil {
		answer(w, err)
		return
	}
	f, err := customer.OpenImage(r.Context(), g.Images[0].ID)
	if err != nil {
		answer(w, err)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "image/png")
	_, _ = io.Copy(w, f)
}

// answer says what a customer may know.
func answer(w http.ResponseWriter, err error) {
	status, message := http.StatusInternalServerError, "something went wrong; try again with the same order_key"
	if e, ok := errors.AsType[*imagegen.Error](err); ok {
		message = e.Message
		switch {
		case errors.Is(err, imagegen.ErrInsufficientCredits):
			status = http.StatusPaymentRequired
		case errors.Is(err, imagegen.ErrIdempotencyKeyReused):
			status = http.StatusConflict
		case errors.Is(err, imagegen.ErrInvalidRequest):
			status = http.StatusBadRequest
		case errors.Is(err, imagegen.ErrNotFound):
			status = http.StatusNotFound
		case errors.Is(err, imagegen.ErrOverloaded):
			status = http.StatusServiceUnavailable
		}
	}
	http.Error(w, message, status)
}
