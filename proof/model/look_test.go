package model_test

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
)

// look polls, reads and lists as clients do.
func (w *service) look(t *rapid.T) {
	if len(w.byID) == 0 {
		t.SkipNow()
	}
	known := slices.DeleteFunc(slices.Clone(w.orders), func(o *order) bool { return o.id == "" })
	o := pick(t, "generation", known...)
	g, err := w.As(o.user).Generation(w.Context(), o.id)
	switch {
	case o.phase == erased && errors.Is(err, imagegen.ErrNotFound):
	case err != nil || !reflect.DeepEqual(o.view(), g):
		w.Fatalf("%s: %v %s", o.request.Prompt, err, cmp.Diff(o.view(), g, cmpopts.EquateErrors()))
	}
	if _, err := w.As("bobby").Generation(w.Context(), o.id); !errors.Is(err, imagegen.ErrNotFound) {
		w.Fatalf("another sees %s: %v", o.id, err)
	}
	w.openImages(o)
	q := imagegen.Query{Limit: pick(t, "limit", 2, 1, 7), Status: pick(t, "status", append(imagegen.Statuses(), "")...)}
	if pick(t, "after", false, true) {
		q.After = pick(t, "behind", known...).id
	}
	w.sameList(o.user, q)
}

// openImages reads the images of a generation, byte by byte as they were delivered.
func (w *service) openImages(o *order) {
	w.Helper()
	for i, p := range o.pictures {
		if p.ID == "" {
			continue // not known yet
		}
		f, err := w.Engine.OpenImage(w.Context(), p.ID)
		if o.phase == erased || o.phase != ended && i >= o.shown {
			if !errors.Is(err, imagegen.ErrNotFound) {
				w.Fatalf("image %s of %s, which is %s: %v", p.ID, o.request.Prompt, o.phase, err)
			}
			continue
		}
		if err != nil {
			w.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil || !p.is(b) {
			w.Fatalf("image %s of %s is not what was delivered: %v", p.ID, o.request.Prompt, err)
		}
	}
}

// is reports whether an image is the one that was delivered, as it was or as the JPEG that was made of it.
func (p pictured) is(b []byte) bool {
	if p.MediaType != "image/jpeg" {
		return bytes.Equal(b, p.bytes)
	}
	m, err := jpeg.Decode(bytes.NewReader(b))
	return err == nil && m.Bounds().Size() == image.Pt(p.Width, p.Height)
}

// cancel has an owner cancel what may wait.
func (w *service) cancel(t *rapid.T) {
	known := slices.DeleteFunc(slices.Clone(w.orders), func(o *order) bool { return o.id == "" || o.phase == erased })
	if len(known) == 0 || w.dead {
		t.SkipNow()
	}
	waiting := slices.DeleteFunc(slices.Clone(known), func(o *order) bool { return o.phase != queued })
	o := pick(t, "generation", append(waiting, known...)...)
	if _, err := w.As("bobby").Cancel(w.Context(), o.id); !errors.Is(err, imagegen.ErrNotFound) {
		w.Fatalf("another cancels %s: %v", o.id, err)
	}
	may := o.phase == queued && o.job == nil
	perhaps := o.phase == lost && o.request.Async && o.job == nil // recovery may have put it back into the queue
	o.cancelling = may || perhaps
	again := o.phase == ended && o.failure == imagegen.ClassCancelled && len(o.pictures) == 0
	g, err := w.As(o.user).Cancel(w.Context(), o.id)
	w.quiet()
	o.cancelling = false
	switch {
	case perhaps && errors.Is(err, imagegen.ErrNotCancellable):
	case !may && !again && !perhaps:
		if !errors.Is(err, imagegen.ErrNotCancellable) {
			w.Fatalf("cancelling %#v: %v", o, err)
		}
	case err != nil && w.outsideLedger != nil: // which is closed: recovery sees the settlement through
		w.met.Add("cancelled in doubt", 1)
		o.cancelling = o.phase == queued || o.phase == lost
	case err != nil || !reflect.DeepEqual(o.view(), g):
		w.Fatalf("cancelling %#v: %v %s", o, err, cmp.Diff(o.view(), g, cmpopts.EquateErrors()))
	default:
		w.met.Add("cancelled", 1)
	}
}

// erase removes a generation, if it has ended.
func (w *service) erase(t *rapid.T) {
	known := slices.DeleteFunc(slices.Clone(w.orders), func(o *order) bool { return o.id == "" })
	if len(known) == 0 || w.dead {
		t.SkipNow()
	}
	o := pick(t, "generation", known...)
	err := w.Erase(w.Context(), o.id)
	var want error
	switch o.phase {
	case ended:
		o.phase = erased
		w.met.Add("erased", 1)
	case erased:
		want = imagegen.ErrNotFound
	default:
		want = imagegen.ErrInvalidRequest
	}
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		w.Fatalf("erasing %s: got %v, want %v", o.request.Prompt, err, want)
	}
}
