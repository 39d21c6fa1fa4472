package imagegen

import (
	"context"
	"io"
)

// checkedMeanwhile is a PNG that is checked while it is written, as the provider sent it: whoever reads
// it comes to its end only if it is whole. errNotPlain: that is for the decoder to judge.
func checkedMeanwhile(s shape, raw received) checkedImage {
	return checkedImage{s.mediaType, s.width, s.height, func(ctx context.Context, put func(io.Reader) error) error {
		f, err := raw.open(ctx)
		if err != nil {
			return storing(err)
		}
		defer f.Close()
		whole, checked := false, make(chan struct{})
		check := func() {
			defer close(checked)
			found, err := readImage(ctx, raw, wholePNG)
			whole = found && err == nil
		}
		isWhole := func() bool {
			<-checked
			return whole
		}
		if raw.long {
			go check()
			defer isWhole() // behind this, raw is discarded
		} else {
			check()
		}
		return put(&endsIf{f, isWhole})
	}}
}

// endsIf reads r, whose end counts only if want says so.
type endsIf struct {
	r    io.Reader
	want func() bool
}

func (e *endsIf) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err == io.EOF && !e.want() {
		return n, errNotPlain
	}
	return n, err
}
