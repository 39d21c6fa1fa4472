package main

import (
	"bytes"
	"fmt"
)

// shaped makes images under /v1, where they come in the answer as base64.
type shaped generation

func (s shaped) String() string { return "/v1 with base64, " + generation(s).String() }

func (s shaped) ours(b *bench) (side, error) {
	p, err := b.service(s.work)
	if err != nil {
		return side{}, err
	}
	body := fmt.Sprintf(`{"model":"%s","prompt":"%s","size":"%[3]dx%[3]d"}`, model, prompt, s.picture.edge)
	return side{p, p.load(p.postOf("/v1/images/generations", body), s.connections)}, nil
}

// native makes the same images by the native interface, and fetches each.
func (s shaped) native(b *bench) (side, error) {
	made, err := generation(s).ours(b)
	if err != nil {
		return side{}, err
	}
	made.load.Then = func(answer []byte) []byte { return made.getOf(imagePath(answer)) }
	return made, nil
}

// imagePath is where the one image of an answer is read.
func imagePath(answer []byte) string {
	_, after, _ := bytes.Cut(answer, []byte("/images/"))
	id, _, _ := bytes.Cut(after, []byte(`"`))
	return "/images/" + string(id)
}

// againstNative is the row that holds the one way against the other.
func (s shaped) againstNative() row {
	return contest(fmt.Sprintf("%v, against the native call and download", s), targets{}, s.ours, s.native)
}
