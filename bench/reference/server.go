package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/julienschmidt/httprouter"
)

// rowSize is what one value of the real service's takes, on average.
const rowSize = 200

type server struct {
	store store
	file  string // that is downloaded
	make  func(in request, use func(image []byte) error) error
	last  atomic.Int64
}

// request is what the real service takes.
type request struct {
	Model  string `json:"model"`
	Prompt string `json:"prompt"`
	Size   string `json:"size"`
	N      int    `json:"n"`
	Async  bool   `json:"async"`
}

// answer is about as long as the real one.
type answer struct {
	Object  string         `json:"object"`
	ID      string         `json:"id"`
	Status  string         `json:"status"`
	Request request        `json:"request"`
	Images  []string       `json:"images"`
	Usage   map[string]int `json:"usage"`
	Created string         `json:"created_at"`
	Poll    string         `json:"poll_url"`
}

// prepare makes what GET reads.
func (s *server) prepare() error {
	stored, err := json.Marshal(answer{Object: "image_generation", ID: "known", Status: "succeeded",
		Images: []string{"/image"}})
	if err != nil {
		return err
	}
	return s.store.put(value{buckets[1], []byte("known"), stored})
}

func (s *server) routes() http.Handler {
	r := httprouter.New()
	r.POST("/generations", s.generate)
	r.GET("/generations/:id", s.generation)
	r.GET("/empty", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	r.GET("/image", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		http.ServeFile(w, r, s.file)
	})
	return r
}

// generate commits twice, as a charge and a settlement, or once for asynchronous work.
func (s *server) generate(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	err := s.authenticate(r)
	var in request
	if err == nil {
		err = json.NewDecoder(r.Body).Decode(&in)
	}
	id := fmt.Sprintf("gen_%026d", s.last.Add(1)) // rising, so that rows are written at the right edge of the tree
	if err == nil {
		err = s.store.put(rows(id, "charge")...)
	}
	if err == nil && !in.Async {
		err = s.finish(id, in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	status := http.StatusOK
	if in.Async {
		status = http.StatusAccepted
	}
	reply(w, status, answer{Object: "image_generation", ID: id, Status: "succeeded", Request: in,
		Images: []string{"/image"}, Usage: map[string]int{"credits": 1, "credits_requested": 1},
		Created: "2006-01-02T15:04:05.000Z", Poll: "/generations/" + id})
}

// finish has the image made, and stores it and its hash.
func (s *server) finish(id string, in request) error {
	var hash [sha256.Size]byte
	err := s.make(in, func(image []byte) error {
		if err := whole(image); err != nil {
			return err
		}
		hash = sha256.Sum256(image)
		return s.store.putImage(id, image)
	})
	if err != nil {
		return err
	}
	return s.store.put(append(rows(id, "settle"), value{buckets[5], []byte(id), hash[:]})...)
}

// authenticate hashes the key and looks it up.
func (s *server) authenticate(r *http.Request) error {
	hash := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	return s.store.get(buckets[0], hash[:], func([]byte) {})
}

// rows are four values, as many as the real service writes at least.
func rows(id, step string) []value {
	row := make([]byte, rowSize)
	return []value{
		{buckets[1], []byte(id), row},
		{buckets[2], []byte(id), row[:1]},
		{buckets[3], []byte(id + step), row},
		{buckets[4], []byte("account"), row},
	}
}

func (s *server) generation(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	if err := s.authenticate(r); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var stored answer
	err := s.store.get(buckets[1], []byte(p.ByName("id")), func(v []byte) {
		if v != nil {
			_ = json.Unmarshal(v, &stored)
		}
	})
	if err != nil || stored.ID == "" {
		http.NotFound(w, r)
		return
	}
	reply(w, http.StatusOK, stored)
}

func reply(w http.ResponseWriter, status int, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a)
}
