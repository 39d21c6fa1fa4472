// Standin is an upstream that makes its image in no time: it answers every request for images as OpenAI's API
// does, with the file that it was given, in base64.
package main

import (
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
)

func main() {
	image := flag.String("image", "", "the file that is every image")
	flag.Parse()
	if err := run(*image); err != nil {
		log.Fatal(err)
	}
}

func run(image string) error {
	b, err := os.ReadFile(image)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	http.HandleFunc("POST /v1/images/generations", always(fmt.Appendf(nil, `{"created":1767225600,"data":[{"b64_json":"%s"}],`+
		`"usage":{"input_tokens":12,"output_tokens":4160,"total_tokens":4172}}`, base64.StdEncoding.EncodeToString(b))))
	fmt.Printf("http://%s\n", l.Addr())
	return http.Serve(l, nil)
}

func always(answer []byte) http.HandlerFunc {
	length := strconv.Itoa(len(answer))
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		w.Write(answer)
	}
}
