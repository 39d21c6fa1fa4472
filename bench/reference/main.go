// Reference is the least that a metered image service can do, to hold the real one against: hash the key, parse
// the body, commit durably, ask the upstream, find the image in its answer, verify and hash it, store it, commit
// again, answer. There is no validation, no credit and no log, and an image lies whole in memory.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"runtime/debug"
)

func main() {
	dir := flag.String("dir", "", "where database and images lie; in memory if empty")
	image := flag.String("image", "", "the file that is every image")
	upstream := flag.String("upstream", "", "where the API begins that makes the images, instead of -image")
	flag.Parse()
	if err := run(*dir, *image, *upstream); err != nil {
		log.Fatal(err)
	}
}

// gcPercent is what the daemon sets.
const gcPercent = 400

func run(dir, image, upstream string) (err error) {
	debug.SetGCPercent(gcPercent)
	s := &server{file: image, make: newClient(upstream).image}
	if upstream == "" {
		if s.make, err = fromFile(image); err != nil {
			return err
		}
	}
	if s.store, err = open(dir); err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	return http.Serve(l, s.routes())
}

func open(dir string) (store, error) {
	if dir == "" {
		return newMemory(), nil
	}
	return openDisk(dir)
}

// fromFile yields the same image always.
func fromFile(name string) (func(request, func([]byte) error) error, error) {
	b, err := os.ReadFile(name)
	return func(_ request, use func([]byte) error) error { return use(b) }, err
}
