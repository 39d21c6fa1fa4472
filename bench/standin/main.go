// Standin is an upstream that makes its image in no time: it answers every request for images as OpenAI's API
// does, with the file that it was given. It encodes it anew for each answer, as an upstream has to, unless -ready
// has it encode the answer beforehand. GET /connections answers with how many were opened.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
)

func main() {
	image := flag.String("image", "", "the file that is every image")
	ready := flag.Bool("ready", false, "encode the answer once, beforehand")
	flag.Parse()
	if err := run(*image, *ready); err != nil {
		log.Fatal(err)
	}
}

func run(image string, ready bool) error {
	b, err := os.ReadFile(image)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	images := always(answer{1767225600, []picture{{b}}, usage{12, 4160, 4172}})
	if ready {
		if images, err = prepared(answer{1767225600, []picture{{b}}, usage{12, 4160, 4172}}); err != nil {
			return err
		}
	}
	http.HandleFunc("POST /v1/images/generations", images)
	var opened atomic.Int64
	http.HandleFunc("GET /connections", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, opened.Load())
	})
	fmt.Printf("http://%s\n", l.Addr())
	s := http.Server{ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}}
	return s.Serve(l)
}

// prepared sends bytes that are ready.
func prepared(a answer) (http.HandlerFunc, error) {
	text, err := json.Marshal(a)
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = w.Write(text)
	}, err
}

type answer struct {
	Created int64     `json:"created"`
	Data    []picture `json:"data"`
	Usage   usage     `json:"usage"`
}

type picture struct {
	Bytes []byte `json:"b64_json"` // encoding/json makes base64 of it
}

type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Total  int `json:"total_tokens"`
}

func always(a answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a)
	}
}
