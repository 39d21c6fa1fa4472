package serving

import (
	"bytes"
	"encoding/json"
	"sync"
)

// Encoder is a buffer with an encoder that writes to it, for use again and again.
type Encoder struct {
	bytes.Buffer
	JSON *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &Encoder{}
	e.JSON = json.NewEncoder(&e.Buffer)
	e.JSON.SetEscapeHTML(false)
	return e
}}

// largestKept bounds what the pool holds on to.
const largestKept = 64 << 10

// NewEncoder returns an empty one. Free it.
func NewEncoder() *Encoder { return encoders.Get().(*Encoder) }

// Free keeps the buffer for another use.
func (e *Encoder) Free() {
	if e.Cap() <= largestKept {
		e.Reset()
		encoders.Put(e)
	}
}

// JSON answers with a body. Unless the header says otherwise it is not to be stored.
func (x *Exchange) JSON(status int, body any) error {
	e := NewEncoder()
	defer e.Free()
	if err := e.JSON.Encode(body); err != nil {
		return err
	}
	x.Set("Content-Type", "application/json")
	x.Set("Cache-Control", "no-store")
	return x.Send(status, e.Bytes())
}
