package main

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// billing is a billing system as a company has one already: accounts and charges behind HTTP. A real one
// would run each request in a transaction of its database, with the charge's ID as the primary key.
type billing struct {
	mu        sync.Mutex
	balances  map[imagegen.UserID]imagegen.Credits
	suspended map[imagegen.UserID]bool
	charges   map[imagegen.ChargeID]*charge
}

type charge struct {
	imagegen.Charge
	settled bool
	used    imagegen.Credits
}

func newBilling() *billing {
	return &billing{balances: map[imagegen.UserID]imagegen.Credits{}, suspended: map[imagegen.UserID]bool{},
		charges: map[imagegen.ChargeID]*charge{}}
}

func (b *billing) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /charges/{id}", func(w http.ResponseWriter, r *http.Request) {
		c := imagegen.Charge{}
		if json.NewDecoder(r.Body).Decode(&c) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.ID = imagegen.ChargeID(r.PathValue("id"))
		w.WriteHeader(b.charge(c))
	})
	mux.HandleFunc("PUT /charges/{id}/settlement", func(w http.ResponseWriter, r *http.Request) {
		var used imagegen.Credits
		if json.NewDecoder(r.Body).Decode(&used) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(b.settle(imagegen.ChargeID(r.PathValue("id")), used))
	})
	mux.HandleFunc("GET /charges", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(b.open(imagegen.ChargeID(r.URL.Query().Get("after"))))
	})
	mux.HandleFunc("GET /accounts/{user}", func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		json.NewEncoder(w).Encode(b.balances[imagegen.UserID(r.PathValue("user"))])
	})
	return mux
}

// charge takes the credits, once for each ID.
func (b *billing) charge(c imagegen.Charge) (status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch former := b.charges[c.ID]; {
	case former != nil && former.settled:
		return http.StatusGone
	case former != nil && !former.Charge.Same(c):
		return http.StatusConflict
	case former != nil:
		return http.StatusOK
	case b.suspended[c.User]:
		return http.StatusForbidden
	case b.balances[c.User] < c.Credits:
		return http.StatusPaymentRequired
	}
	b.balances[c.User] -= c.Credits
	b.charges[c.ID] = &charge{Charge: c}
	return http.StatusOK
}

// settle keeps what was used and gives the rest back, once for each ID.
func (b *billing) settle(id imagegen.ChargeID, used imagegen.Credits) (status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.charges[id]
	switch {
	case c == nil && used == 0: // a mark that refuses a charge which comes late
		b.charges[id] = &charge{Charge: imagegen.Charge{ID: id}, settled: true}
		return http.StatusOK
	case c == nil:
		return http.StatusNotFound
	case used < 0 || used > c.Credits, c.settled && c.used != used:
		return http.StatusConflict
	case c.settled:
		return http.StatusOK
	}
	c.settled, c.used = true, used
	b.balances[c.User] += c.Credits - used
	return http.StatusOK
}

// open lists the open charges behind one, by ID.
func (b *billing) open(after imagegen.ChargeID) (open []imagegen.Charge) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, c := range b.charges {
		if !c.settled && id > after {
			open = append(open, c.Charge)
		}
	}
	slices.SortFunc(open, func(x, y imagegen.Charge) int { return strings.Compare(string(x.ID), string(y.ID)) })
	return open
}

// unreliable fails a fifth of the requests: half of them before anything is done, half after it was.
func unreliable(h http.Handler, dice *rand.Rand) http.Handler {
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		fate := dice.IntN(10)
		mu.Unlock()
		switch fate {
		case 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			h.ServeHTTP(discarded{http.Header{}}, r)
			w.WriteHeader(http.StatusBadGateway)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// discarded is an answer that is lost on its way.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header         { return d.header }
func (d discarded) Write(b []byte) (int, error) { return len(b), nil }
func (d discarded) WriteHeader(int)             {}
