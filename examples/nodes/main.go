// Command nodes runs three nodes of imagegend on one machine, to look at how they work together: a PostgreSQL, an
// object store, three imagegend serve, and a balancer in front. It prints a request to try, and removes everything when
// it is interrupted.
//
//	go run ./examples/nodes
//
// It needs the programs of PostgreSQL (Debian: apt-get install postgresql) and versitygw (go install
// github.com/versity/versitygw/cmd/versitygw@v1.8.0). Everything lies in a temporary directory, on loopback, and the
// database has no standby: docs/scaling.md tells how nodes are set up to outlive a machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:8080")
	if err == nil {
		err = run(ctx, listener, os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// nodes is how many there are.
const nodes = 3

// run serves three nodes on a listener until the context ends.
func run(ctx context.Context, l net.Listener, out io.Writer) (err error) {
	defer l.Close()
	dir, err := os.MkdirTemp("", "imagegend-nodes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	started := new(processes)
	defer func() { err = errors.Join(err, started.stop()) }()

	fmt.Fprintln(out, "building imagegend")
	program := filepath.Join(dir, "imagegend")
	if said, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program,
		"github.com/imagegend/imagegend/cmd/imagegend").CombinedOutput(); err != nil {
		return fmt.Errorf("imagegend does not build: %w\n%s", err, said)
	}
	database, err := startDatabase(ctx, started, dir)
	if err != nil {
		return err
	}
	images, err := startObjects(ctx, started, dir)
	if err != nil {
		return err
	}
	c := cluster{program: program, dir: dir, base: "http://" + l.Addr().String(), shared: []string{
		"IMAGEGEND_DATABASE=" + database, "IMAGEGEND_IMAGES=" + images,
		"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_EC2_METADATA_DISABLED=true",
	}}
	if err := c.start(ctx, started, out); err != nil {
		return err
	}
	key, err := c.customer(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out,
		"curl %s/api/v1/images/generations -H 'Authorization: Bearer %s' --json '{\"model\":\"fake-1\",\"prompt\":\"a fox in the snow\"}'\n", c.base, key)

	server, ended := &http.Server{Handler: balance(c.addresses)}, make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case err := <-started.failed():
		return errors.Join(err, server.Close())
	case <-ctx.Done():
		return server.Shutdown(context.WithoutCancel(ctx))
	}
}
