// Reference is the least that a metered image service can do, to hold the real one against: hash the
// key, parse the body, commit durably, store an image, answer. There is no validation, no provider,
// no credit and no log.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	dir := flag.String("dir", "", "where database and images lie")
	image := flag.String("image", "", "store the bytes of this file as an image of each generation; none if empty")
	flag.Parse()
	if err := run(*dir, *image); err != nil {
		log.Fatal(err)
	}
}

func run(dir, image string) error {
	s := &server{dir: dir}
	if image != "" {
		var err error
		if s.image, err = os.ReadFile(image); err != nil {
			return err
		}
	}
	var err error
	if s.db, err = openDatabase(dir); err != nil {
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
