package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

// heartbeat is how often something is sent while the work goes on: proxies cut what says nothing, the most impatient after
// twenty seconds.
const heartbeat = 15 * time.Second

// stream answers with events. Until the first one, or a comment, what fails is answered as it is without a stream.
func (x *exchange) stream(r *request, edit bool) error {
	s := &stream{exchange: x, request: r, object: "image_generation"}
	if edit {
		s.object = "image_edit"
	}
	result, err := s.result()
	switch {
	case err == nil:
		err = x.deliver(result, func() error { return s.end(result) })
	case s.begun:
		s.fail(err)
	default:
		x.warn(r, err)
	}
	if s.broken != nil {
		x.cut(s.broken)
	}
	return err
}

// stream is an answer of events.
type stream struct {
	*exchange
	*request
	object string // what the names of the events begin with

	mu     sync.Mutex // held by who writes while the work goes on
	begun  bool
	sent   []imagegen.ImageID
	broken error // with which an event could not be sent whole
}

// result has the images made, and sends those that are shown meanwhile, with a comment now and then.
func (s *stream) result() (imagegen.Result, error) {
	ctx, hangUp := context.WithCancel(s.Ctx)
	defer hangUp()
	s.Shown = func(g imagegen.Generation) {
		if !s.show(g) {
			hangUp() // so that an equal call gets what this one cannot be given
		}
	}
	defer s.keepAlive()() // also when Generate panics
	return s.session.Generate(ctx, s.GenerateRequest)
}

// keepAlive sends comments until stop, which waits for the last one.
func (s *stream) keepAlive() (stop func()) {
	ended := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for beat := time.NewTicker(heartbeat); ; {
			select {
			case <-ended:
				beat.Stop()
				return
			case <-beat.C:
				s.comment()
			}
		}
	})
	return func() {
		close(ended)
		done.Wait()
	}
}

// comment says that the work goes on. That the peer has gone the context tells.
func (s *stream) comment() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(imagegen.Result{})
	s.send([]piece{{text: ": the images are being made\n\n"}})
}

// show sends images of work that goes on, and reports whether more can be sent. What cannot be opened is left for the
// end, where that can be told.
func (s *stream) show(g imagegen.Generation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images(imagegen.Result{Generation: g})
	return s.broken == nil
}

// begin sends the header, once, with what it can say of a result; the zero one is not known yet.
func (s *stream) begin(result imagegen.Result) {
	if s.begun {
		return
	}
	s.begun = true
	if result.ID != "" {
		s.head(result)
	}
	s.Header().Set("Content-Type", "text/event-stream")
	s.Header().Set("Cache-Control", "no-store")
	s.Header().Set("X-Accel-Buffering", "no") // nginx would hold the events back
	s.WriteHeader(http.StatusOK)
}

// send sends pieces at once, unless some were broken off before.
func (s *stream) send(pieces []piece) error {
	if s.broken == nil {
		s.broken = s.write(pieces)
	}
	if s.broken == nil {
		s.broken = s.Flush()
	}
	return s.broken
}

// completed is the event of an image, behind the image itself.
type completed struct {
	CreatedAt int64 `json:"created_at"`
	appearance
	ID imagegen.GenerationID `json:"id"`
}

// settled is the last event.
type settled struct {
	Type string `json:"type"`
	summary
	Requested int `json:"requested"` // images
	Missing   int `json:"missing"`   // of them, which did not come and cost nothing
}

// end sends the images of a result that have not been sent, and the last event.
func (s *stream) end(result imagegen.Result) error {
	if err := s.images(result); err != nil && s.begun {
		s.fail(err)
		return err
	} else if err != nil {
		return err
	}
	return s.event(s.object+".settled", settled{s.object + ".settled", summarize(result), result.N, result.N - len(result.Images)})
}

// images sends those images that have not been sent.
func (s *stream) images(result imagegen.Result) error {
	rest := slices.DeleteFunc(slices.Clone(result.Images), func(i imagegen.Image) bool { return slices.Contains(s.sent, i.ID) })
	files, err := s.open(s.request, rest)
	if err != nil {
		return err
	}
	defer closeAll(files)
	s.begin(result)
	for i, image := range rest {
		if err := s.image(result.Generation, image, files, i); err != nil {
			return err
		}
		s.sent = append(s.sent, image.ID)
	}
	return nil
}

// image sends one image as an event, its base64 straight from the store.
func (s *stream) image(g imagegen.Generation, image imagegen.Image, files []*imagegen.ImageFile, i int) error {
	tail, err := json.Marshal(completed{g.CreatedAt.Unix(), looks(g, image), g.ID})
	if err != nil {
		return err
	}
	name := s.object + ".completed"
	begin := fmt.Sprintf("event: %s\ndata: {\"type\":%q,", name, name)
	end := "," + string(tail[1:]) + "\n\n"
	if s.urls {
		return s.send([]piece{{text: begin + `"url":` + strconv.Quote(s.address(image)) + end}})
	}
	return s.send([]piece{{begin + `"b64_json":"`, files[i]}, {text: `"` + end}})
}

func (s *stream) event(name string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s.send([]piece{{text: fmt.Sprintf("event: %s\ndata: %s\n\n", name, b)}})
}

// fail ends a stream that has begun with the event of an error.
func (s *stream) fail(err error) {
	e := serving.Coded(err)
	s.event("error", struct { // a peer that has gone needs none
		Type string `json:"type"`
		errorBody
	}{"error", errorOf(e, statusOf(e))})
}
