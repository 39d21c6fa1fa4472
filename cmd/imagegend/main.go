// Command imagegend runs the image generation service, keeps its users, keys and credits, and is a
// client of it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)   // a second signal is not held back
	signal.Ignore(syscall.SIGXFSZ) // a limit on the size of files fails the write, as a full disk does
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
