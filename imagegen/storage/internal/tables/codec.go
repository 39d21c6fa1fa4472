package tables

import (
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Each value begins with the version of its form.
const (
	intentVersion   = 1
	progressVersion = 1
)

func encodeIntent(r row) []byte {
	w := form(intentVersion)
	w.Bool(r.joint)
	w.String(string(r.User))
	w.String(string(r.KeyID))
	w.String(r.Model)
	w.String(r.Prompt)
	w.Int(int64(r.N))
	w.Int(int64(r.Size.Width))
	w.Int(int64(r.Size.Height))
	w.String(string(r.Quality))
	w.String(string(r.Effort))
	w.String(string(r.Ratio))
	w.String(string(r.Tier))
	w.Int(int64(r.Price))
	w.Bool(r.Async)
	w.Uint(uint64(len(r.References)))
	for _, f := range r.References {
		w.String(string(f.ID))
		w.String(f.MediaType)
		w.Int(f.Size)
		w.Int(int64(f.Width))
		w.Int(int64(f.Height))
		w.Fixed(f.SHA256[:])
	}
	w.String(r.IdempotencyKey)
	w.Fixed(r.Fingerprint[:])
	w.String(string(r.holder))
	if w.Bool(r.JoinKey != [32]byte{}); r.JoinKey != [32]byte{} {
		w.Fixed(r.JoinKey[:])
	}
	w.Time(r.CreatedAt)
	return w
}

func (r *row) decodeIntent(b []byte) error {
	in := versioned(b, intentVersion)
	r.joint = in.Bool()
	r.User = imagegen.UserID(in.String())
	r.KeyID = imagegen.KeyID(in.String())
	r.Model = in.String()
	r.Prompt = in.String()
	r.N = int(in.Int())
	r.Size = imagegen.Size{Width: int(in.Int()), Height: int(in.Int())}
	r.Quality = imagegen.Quality(in.String())
	r.Effort = imagegen.Quality(in.String())
	r.Ratio = imagegen.Ratio(in.String())
	r.Tier = imagegen.Tier(in.String())
	r.Price = imagegen.Credits(in.Int())
	r.Async = in.Bool()
	r.References = list(in, decodeReference)
	r.IdempotencyKey = in.String()
	in.Fixed(r.Fingerprint[:])
	r.holder = imagegen.GenerationID(in.String())
	if in.Bool() {
		in.Fixed(r.JoinKey[:])
	}
	r.CreatedAt = in.Time()
	if err := in.Err(); err != nil {
		return fmt.Errorf("tables: intent of generation %s: %w", r.ID, err)
	}
	return nil
}

func decodeReference(in *kv.Reader) (f imagegen.ReferenceFile) {
	f.ID = imagegen.ReferenceID(in.String())
	f.MediaType = in.String()
	f.Size = in.Int()
	f.Width, f.Height = int(in.Int()), int(in.Int())
	in.Fixed(f.SHA256[:])
	return f
}

func encodeProgress(r row) []byte {
	w := form(progressVersion)
	w.String(string(r.State))
	w.Int(int64(r.Attempt))
	w.Int(int64(r.Failures))
	w.Int(int64(r.Resumptions))
	w.Int(int64(r.Delay))
	w.Time(r.due)
	w.Bytes(r.Job)
	w.Uint(uint64(len(r.JobUpstreams)))
	for _, u := range r.JobUpstreams {
		w.String(u)
	}
	w.Uint(uint64(len(r.Images)))
	for _, i := range r.Images {
		w.String(string(i.ID))
		w.Int(int64(i.Attempt))
		w.String(i.MediaType)
		w.Int(int64(i.Width))
		w.Int(int64(i.Height))
		w.Int(i.Size)
		w.Fixed(i.SHA256[:])
		w.Time(i.CreatedAt)
	}
	w.Int(int64(r.Published))
	w.Bool(r.Failure != nil)
	if f := r.Failure; f != nil {
		w.Uint(uint64(f.Class))
		w.String(f.Detail)
	}
	w.Time(r.CompletedAt)
	encodeBalance(&w, r.Balance)
	w.Bool(r.Undelivered)
	w.String(r.Dispute)
	w.Bool(r.Refunded)
	return w
}

func encodeBalance(w *kv.Writer, b *imagegen.Balance) {
	w.Bool(b != nil)
	if b == nil {
		return
	}
	w.Int(int64(b.Credits))
	w.String(b.AccountType)
	w.Bool(b.NextExpiration != nil)
	if e := b.NextExpiration; e != nil {
		w.Int(int64(e.Credits))
		w.Time(e.At)
	}
}

func (r *row) decodeProgress(b []byte) error {
	in := versioned(b, progressVersion)
	r.State = imagegen.State(in.String())
	r.Attempt = int(in.Int())
	r.Failures = int(in.Int())
	r.Resumptions = int(in.Int())
	r.Delay = time.Duration(in.Int())
	r.due = in.Time()
	r.Job = in.Bytes()
	r.JobUpstreams = list(in, (*kv.Reader).String)
	r.Images = list(in, decodeImage)
	r.Published = int(in.Int())
	r.Failure = optional(in, func() imagegen.Failure {
		return imagegen.Failure{Class: imagegen.Class(in.Uint()), Detail: in.String()}
	})
	r.CompletedAt = in.Time()
	r.Balance = optional(in, func() imagegen.Balance { return decodeBalance(in) })
	r.Undelivered = in.Bool()
	r.Dispute = in.String()
	r.Refunded = in.Bool()
	if err := in.Err(); err != nil {
		return fmt.Errorf("tables: progress of generation %s: %w", r.ID, err)
	}
	return nil
}

func decodeImage(in *kv.Reader) (i imagegen.StoredImage) {
	i.ID = imagegen.ImageID(in.String())
	i.Attempt = int(in.Int())
	i.MediaType = in.String()
	i.Width, i.Height = int(in.Int()), int(in.Int())
	i.Size = in.Int()
	in.Fixed(i.SHA256[:])
	i.CreatedAt = in.Time()
	return i
}

func decodeBalance(in *kv.Reader) (b imagegen.Balance) {
	b.Credits = imagegen.Credits(in.Int())
	b.AccountType = in.String()
	b.NextExpiration = optional(in, func() imagegen.Expiration {
		return imagegen.Expiration{Credits: imagegen.Credits(in.Int()), At: in.Time()}
	})
	return b
}

// form begins a value of a version, with space for most.
func form(version byte) kv.Writer { return append(make(kv.Writer, 0, 256), version) }

// versioned reads a value behind its version. Of a value of another form nothing can be read.
func versioned(b []byte, version byte) *kv.Reader {
	if len(b) == 0 || b[0] != version {
		return kv.NewReader(nil)
	}
	return kv.NewReader(b[1:])
}

func list[T any](in *kv.Reader, element func(*kv.Reader) T) []T {
	n := in.Count()
	if n == 0 {
		return nil
	}
	vs := make([]T, n)
	for i := range vs {
		vs[i] = element(in)
	}
	return vs
}

func optional[T any](in *kv.Reader, value func() T) *T {
	if !in.Bool() {
		return nil
	}
	v := value()
	return &v
}
