package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
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
		return x.deliver(result, func() error { return s.send(result) })
	case s.begun:
		return s.fail(err)
	}
	x.warn(r, err)
	return err
}

// stream is an answer of events.
type stream struct {
	*exchange
	*request
	object string // what the names of the events begin with
	begun  bool
}

// result has the images made, with a comment now and then.
func (s *stream) result() (imagegen.Result, error) {
	stop := s.keepAlive()
	defer stop() // also when Generate panics
	return s.exchange.result(s.request)
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
	return sync.OnceFunc(func() {
		close(ended)
		done.Wait()
	})
}

// comment says that the work goes on. That the peer has gone the context tells.
func (s *stream) comment() {
	s.begin()
	s.Write([]byte(": the images are being made\n\n"))
	s.Flush()
}

// begin sends the header, once.
func (s *stream) begin() {
	if s.begun {
		return
	}
	s.begun = true
	s.Set("Content-Type", "text/event-stream")
	s.Set("Cache-Control", "no-store")
	s.Set("X-Accel-Buffering", "no") // nginx would hold the events back
	s.WriteHeader(http.StatusOK)
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

// send sends the events of a result.
func (s *stream) send(result imagegen.Result) error {
	files, err := s.open(s.request, result.Images)
	if err != nil && s.begun {
		return s.fail(err)
	}
	if err != nil {
		return err
	}
	defer closeAll(files)
	if !s.begun {
		s.head(result)
		s.begin()
	}
	for i, image := range result.Images {
		if err := s.image(result, image, files, i); err != nil {
			return err
		}
	}
	return s.event(s.object+".settled", settled{s.object + ".settled", summarize(result), result.N, result.N - len(result.Images)})
}

func (s *stream) image(result imagegen.Result, image imagegen.Image, files []*imagegen.ImageFile, i int) error {
	tail, err := json.Marshal(completed{result.CreatedAt.Unix(), looks(result, image), result.ID})
	if err != nil {
		return err
	}
	name := s.object + ".completed"
	begin := fmt.Sprintf("event: %s\ndata: {\"type\":%q,", name, name)
	end := "," + string(tail[1:]) + "\n\n"
	if s.urls {
		err = s.write([]piece{{text: begin + `"url":` + strconv.Quote(s.address(image)) + end}})
	} else {
		err = s.write([]piece{{begin + `"b64_json":"`, files[i]}, {text: `"` + end}})
	}
	if err != nil {
		return err
	}
	return s.Flush()
}

func (s *stream) event(name string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if err := s.write([]piece{{text: fmt.Sprintf("event: %s\ndata: %s\n\n", name, b)}}); err != nil {
		return err
	}
	return s.Flush()
}

// fail ends a stream that has begun with the event of an error, and returns it.
func (s *stream) fail(err error) error {
	e := serving.Coded(err)
	s.event("error", struct { // a peer that has gone needs none
		Type string `json:"type"`
		errorBody
	}{"error", errorOf(e, statusOf(e))})
	return err
}
