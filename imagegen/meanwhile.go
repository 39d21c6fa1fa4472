package imagegen

import (
	"context"
	"io"
)

// checkedMeanwhile is a PNG that is checked while it is written, as the provider sent it: whoever reads
// it comes to its end only if it is whole. errNotPlain: that is for the decoder to judge.
func checkedMeanwhile(s shape, raw received) checkedImage {
	i := asReceived(s, raw)
	write := i.write
	i.write = func(ctx context.Context, put func(io.Reader) error) error {
		check := wholePNG
		if raw.long { // worth another goroutine, unless it is known at once that the decoder has to judge
			check = plainPNG
		}
		if ok, err := readImage(ctx, raw, check); err != nil || !ok {
			return errNotPlain
		}
		if !raw.long {
			return write(ctx, put)
		}
		isWhole := checkBehind(ctx, raw)
		defer isWhole() // then raw is discarded
		err := write(ctx, func(r io.Reader) error { return put(&endsIf{r, isWhole}) })
		if err == nil && !isWhole() { // put has not read it to its end
			return errNotPlain
		}
		return err
	}
	return i
}

// checkBehind checks a PNG on another goroutine; isWhole waits for what it finds.
func checkBehind(ctx context.Context, raw received) (isWhole func() bool) {
	whole, checked := false, make(chan struct{})
	go func() {
		defer func() {
			_ = recover() // of the spool; it panics again where the decoder reads it
			close(checked)
		}()
		found, err := readImage(ctx, raw, wholePNG)
		whole = found && err == nil
	}()
	return func() bool {
		<-checked
		return whole
	}
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
