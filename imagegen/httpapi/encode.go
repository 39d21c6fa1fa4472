package httpapi

import (
	"bytes"
	"encoding/json"
	"sync"
)

// encoder is a buffer with an encoder that writes to it, for use again and again.
type encoder struct {
	bytes.Buffer
	json *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.json = json.NewEncoder(&e.Buffer)
	e.json.SetEscapeHTML(false)
	return e
}}

// largestKept bounds what the pool holds on to.
const largestKept = 64 << 10

// json answers with a body. Unless the header says otherwise it is not to be stored.
func (x *exchange) json(status int, body any) error {
	e := encoders.Get().(*encoder)
	defer func() {
		if e.Cap() <= largestKept {
			e.Reset()
			encoders.Put(e)
		}
	}()
	if err := e.json.Encode(body); err != nil {
		return err
	}
	x.set("Content-Type", "application/json")
	x.set("Cache-Control", "no-store")
	return x.send(status, e.Bytes())
}
