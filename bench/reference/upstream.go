package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// client asks an upstream that speaks OpenAI's protocol.
type client struct {
	url  string
	http *http.Client
}

func newClient(base string) *client {
	return &client{base + "/images/generations", &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 1024, ReadBufferSize: 64 << 10, DisableCompression: true,
	}}}
}

// answers are buffers that an answer fits into.
var answers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// image has an image made; it is valid until use returns.
func (c *client) image(in request, use func(image []byte) error) error {
	body, err := json.Marshal(map[string]any{"model": in.Model, "prompt": in.Prompt, "size": in.Size, "n": 1})
	if err != nil {
		return err
	}
	answer := answers.Get().(*bytes.Buffer)
	defer answers.Put(answer)
	if err := c.post(body, answer); err != nil {
		return err
	}
	image, err := decode(answer.Bytes())
	if err != nil {
		return err
	}
	return use(image)
}

func (c *client) post(body []byte, answer *bytes.Buffer) error {
	r, err := c.http.Post(c.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("the upstream answers %s", r.Status)
	}
	answer.Reset()
	answer.Grow(int(r.ContentLength) + bytes.MinRead)
	_, err = io.Copy(answer, r.Body)
	return err
}

// decode finds the image in an answer and decodes it in place. An answer of the usual form is not parsed further
// than to its end; any other is left to encoding/json.
func decode(answer []byte) ([]byte, error) {
	_, text, found := bytes.Cut(answer, []byte(`"data":[{"b64_json":"`))
	end := bytes.IndexByte(text, '"')
	if !found || end < 0 || bytes.IndexByte(text[:end], '\\') >= 0 {
		return parse(answer)
	}
	n, err := base64.StdEncoding.Decode(text, text[:end])
	return text[:n], err
}

func parse(answer []byte) ([]byte, error) {
	var v struct {
		Data []struct {
			Image []byte `json:"b64_json"`
		}
	}
	if err := json.Unmarshal(answer, &v); err != nil {
		return nil, err
	}
	if len(v.Data) == 0 {
		return nil, fmt.Errorf("there is no image in %.100q", answer)
	}
	return v.Data[0].Image, nil
}
