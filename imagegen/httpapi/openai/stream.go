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

// heartbeat is how often something is sent while the work goes on: proxies cut connections on which
// nothing is sent, the most impatient after twenty seconds.
const heartbeat = 15 * time.Second

// stream answers with events. Until the first event, or comment, is sent, an error is answered as it is
// without a stream; afterwards it is an event. A stream of which a part could not be sent is cut off.
func (x *exchange) stream(r *request, edit bool) error {
	s := &stream{exchange: x, request: r, object: "image_generation"}
	if edit {
		s.object = "image_edit"
	}
	result, err := s.result()
	if s.refused != nil {
		err = s.refused
	}
	switch {
	case err == nil:
		err = x.deliver(result, func() error { return s.finish(result) })
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

// stream is an answer of events. While the work goes on, two goroutines write: that of Generate, which
// sends images, and that of keepAlive. Once Generate has returned, only the former is left.
type stream struct {
	*exchange
	*request
	object string // what the names of the events begin with

	mu      sync.Mutex // guards what follows, and writing, while both goroutines are there
	begun   bool       // the header was sent
	sent    []imagegen.ImageID
	broken  error // with which an event could not be sent whole: nothing may follow it
	refused error // why the caller may no longer see anything: the key was revoked meanwhile, or has expired
}

// result has the images made, and sends those that are shown meanwhile, with a comment now and then.
// When it returns, keepAlive has ended.
func (s *stream) result() (imagegen.Result, error) {
	ctx, hangUp := context.WithCancel(s.Ctx)
	defer hangUp()
	s.OnProgress = func(g imagegen.Generation) {
		if !s.show(g) {
			hangUp() // so that an equal call gets what this one cannot be given
		}
	}
	defer s.keepAlive(hangUp)() // also when Generate panics
	return s.session.Generate(ctx, s.GenerateRequest)
}

// keepAlive sends comments from a goroutine of its own until stop, which waits for the last one: nothing
// of it comes after or within what is written then. It hangs up if the caller may no longer see anything.
func (s *stream) keepAlive(hangUp func()) (stop func()) {
	ended := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for beat := time.NewTicker(heartbeat); ; {
			select {
			case <-ended:
				beat.Stop()
				return
			case <-beat.C:
				if !s.comment() {
					hangUp()
				}
			}
		}
	})
	return func() {
		close(ended)
		done.Wait()
	}
}

// comment says that the work goes on, and reports whether the caller may still see that. Its error is not looked at: if
// the peer has gone, the context of the request ends.
func (s *stream) comment() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.still() != nil {
		return false
	}
	s.sendHead(imagegen.Result{})
	s.send([]piece{{text: ": the images are being made\n\n"}})
	return true
}

// still returns s.refused, after it has asked again.
func (s *stream) still() error {
	if s.refused == nil {
		s.refused = s.Still()
	}
	return s.refused
}

// show sends images of work that goes on, and reports whether more can be sent. One that cannot be
// opened is left for the end, which reports that.
func (s *stream) show(g imagegen.Generation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images(imagegen.Result{Generation: g})
	return s.broken == nil && s.refused == nil
}

// sendHead sends the header, once. The zero result stands for one that is not known yet, as when a comment
// is sent first: the header then has no Location.
func (s *stream) sendHead(result imagegen.Result) {
	if s.begun {
		return
	}
	s.begun = true
	if result.ID != "" {
		s.head(result)
	}
	s.Header().Set("Content-Type", "text/event-stream")
	s.Header().Set("Cache-Control", "no-store")
	s.WriteHeader(http.StatusOK)
}

// send sends pieces and flushes them, unless an earlier piece was broken off.
func (s *stream) send(pieces []piece) error {
	if s.broken == nil {
		s.broken = s.write(pieces)
	}
	if s.broken == nil {
		s.broken = s.Flush()
	}
	return s.broken
}

// completed is what the event of an image says behind the image itself.
type completed struct {
	CreatedAt int64 `json:"created_at"`
	appearance
	ID imagegen.GenerationID `json:"id"`
}

// settled is the last event of a stream that succeeded. It is an addition to OpenAI's shape, so that a
// caller learns what was charged and that nothing was cut off.
type settled struct {
	Type string `json:"type"`
	summary
	Requested int `json:"requested"` // images
	Missing   int `json:"missing"`   // of them, which did not come and cost nothing
}

// finish sends the images of a result that have not been sent, and the last event.
func (s *stream) finish(result imagegen.Result) error {
	err := s.images(result)
	if err == nil {
		err = s.still()
	}
	if err != nil && s.begun {
		s.fail(err)
	}
	if err != nil {
		return err
	}
	return s.event(s.object+".settled", settled{s.object + ".settled", summarize(result), result.N,
		result.N - len(result.Images)})
}

// images sends the images of a result that have not been sent. An error before the first of them may
// still be answered with a status, see begun.
func (s *stream) images(result imagegen.Result) error {
	rest := slices.DeleteFunc(slices.Clone(result.Images), func(i imagegen.Image) bool {
		return slices.Contains(s.sent, i.ID)
	})
	files, err := s.openImages(s.request, rest)
	if err != nil {
		return err
	}
	defer closeAll(files)
	if err := s.still(); err != nil {
		return err
	}
	s.sendHead(result)
	for i, image := range rest {
		if err := s.still(); err != nil {
			return err
		}
		if err := s.image(result.Generation, image, files, i); err != nil {
			return err
		}
		s.sent = append(s.sent, image.ID)
	}
	return nil
}

// image sends one image as an event, its base64 straight from the store. The JSON must be one line,
// since a line break would end the data of the event; neither base64 nor encoded JSON has any.
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

// event sends an event without an image.
func (s *stream) event(name string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return s.send([]piece{{text: fmt.Sprintf("event: %s\ndata: %s\n\n", name, b)}})
}

// fail ends a stream that has begun, by the event of an error.
func (s *stream) fail(err error) {
	e := serving.Coded(err)
	s.event("error", struct { // a peer that has gone needs none
		Type string `json:"type"`
		errorBody
	}{"error", errorOf(e, statusOf(e))})
}
