package adminserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/internal/jsonscan"
)

// failure is the body of a refusal on the socket. Programs get another, see refuseOps.
type failure struct {
	Error string `json:"error"`
	// The disk failed under a commit: the command needs this for its exit status.
	Disk bool `json:"disk,omitempty"`
}

// NewServer returns the server that answers a remote. Anybody who can connect may do everything, so it belongs on a
// socket that only the operator can open. It learns from the socket who calls, for the audit trail. It has no limit
// on the time of a call: an audit or a backup takes as long as there is data.
func NewServer(l *Local) *http.Server {
	return &http.Server{Handler: onSocket.handler(l), ConnContext: asPeer, ReadHeaderTimeout: 10 * time.Second}
}

// onSocket is what surrounds the calls on the socket. A command says everything in the body of a call, and the socket
// decides who may call, so nothing is prepared.
var onSocket = surroundings{
	// A command and a server of different versions.
	misread: func(_ call, why error) error {
		return fmt.Errorf("the running server does not understand the command: %w", why)
	},
	prepare: func(*http.Request, call, any) error { return nil },
	// As text that the command prints. Only the failure of the disk keeps its type.
	refuse: func(w http.ResponseWriter, status int, err error) {
		answer(w, status, failure{err.Error(), errors.Is(err, storage.ErrOutcomeUnknown)})
	},
}

// surroundings is what differs between the socket and the interface for programs, which share the calls.
type surroundings struct {
	// Puts into words why the body of a call cannot be read.
	misread func(c call, why error) error
	// Fills in what the request says outside of its body, or refuses it.
	prepare func(r *http.Request, c call, in any) error
	refuse  func(w http.ResponseWriter, status int, err error) // sends an error; status is a proposal
}

// handler answers each call of l, by its name as the path.
func (s surroundings) handler(l *Local) http.Handler {
	mux := http.NewServeMux()
	for _, c := range l.calls() {
		h := func(w http.ResponseWriter, r *http.Request) { s.serveCall(w, r, c) }
		if c.out == nil {
			h = c.download
		}
		mux.HandleFunc("POST /"+c.name, h)
	}
	return mux
}

// serveCall answers one call: a POST with its request as JSON, answered with JSON. A body that cannot be read, or that
// prepare refuses, is 400. An error of the call is 422, unless refuse knows better.
func (s surroundings) serveCall(w http.ResponseWriter, r *http.Request, c call) {
	in, out := c.in(), c.out()
	err := decode(r.Body, in)
	if err != nil {
		err = s.misread(c, err)
	} else {
		err = s.prepare(r, c, in)
	}
	if err != nil {
		s.refuse(w, http.StatusBadRequest, err)
		return
	}
	if err := c.do(r.Context(), in, out); err != nil {
		s.refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	answer(w, http.StatusOK, out)
}

// decode reads a body as strictly as the other interfaces. A newer command may say more: that is refused rather than
// carried out in part.
func decode(body io.Reader, in any) error {
	b, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	err = jsonscan.Unmarshal(b, in)
	if e, ok := errors.AsType[*imagegen.Error](err); ok {
		return errors.New(e.Message) // without its code: it becomes a part of a sentence
	}
	return err
}

// answer sends a status and a body as JSON.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error means that the caller is gone
}

// download sends an answer as it is made. The status is sent before the outcome is known; the outcome follows in the
// trailer. The body is chunked, so the client also notices a connection that breaks.
func (c call) download(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Trailer", admin.ErrorTrailer)
	if err := c.do(r.Context(), nil, w); err != nil {
		w.Header().Set(admin.ErrorTrailer, err.Error())
	}
}

// Ready answers GET /readyz for monitoring: 200 if work is taken, else 503, with reasons and warnings. Unlike the
// public /readyz it says why, so it belongs where only operators can ask.
func Ready(l *Local) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, _ := l.getReadiness(r.Context(), admin.None{})
		status := http.StatusOK
		if !found.Ready {
			status = http.StatusServiceUnavailable
		}
		answer(w, status, found)
	})
}
