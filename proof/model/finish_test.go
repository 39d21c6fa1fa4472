package model_test

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// finish brings everything to rest and looks for what is left over.
func (w *service) finish() {
	w.Helper()
	if !w.up {
		w.start(w.T)
	}
	time.Sleep(lease + recovered)
	w.quiet()
	w.verify(w.T)
	w.stop(w.T, 0)
	w.quiet()
	w.verify(w.T)
	w.met.Add("steps", -2)
	published := map[imagegen.ImageID]bool{}
	for _, o := range w.orders {
		w.openImages(o)
		if !o.done {
			w.Fatalf("%s was never answered", o.request.Prompt)
		}
		for i, p := range o.pictures {
			if o.phase == ended || o.phase != erased && i < o.shown {
				published[p.ID] = true
			}
		}
	}
	w.sameUse()
	report := w.audit(w.T)
	if report.Generations != len(w.byID) || report.Images != len(published) {
		w.Fatalf("the audit went over %+v; there are %d generations with %d images", report, len(w.byID),
			len(published))
	}
	w.leftOver(published)
}

// leftOver looks for images and files that belong to nothing.
func (w *service) leftOver(published map[imagegen.ImageID]bool) {
	w.Helper()
	if w.dir != "" {
		needed := 0
		for _, o := range w.orders {
			needed += o.files()
		}
		if images, spooled, temporary := w.files(w.T, "images"), w.files(w.T, "spool"),
			w.files(w.T, "tmp"); images != len(published) || spooled != needed || temporary != 0 {
			w.Fatalf("%d images are published and %d references needed; there are %d files of images, %d in the spool and %d temporary ones",
				len(published), needed, images, spooled, temporary)
		}
		return
	}
	for k := range w.shelf.images {
		if !published[k.Image] {
			w.Fatalf("image %+v belongs to nothing", k)
		}
	}
	if len(w.shelf.images) != len(published) {
		w.Fatalf("%d images are published, %d are there", len(published), len(w.shelf.images))
	}
}
