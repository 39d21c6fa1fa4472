// Command imagegend runs the image generation service, keeps its users, keys and credits, and is a
// client of it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "golang.org/x/crypto/x509roots/fallback" // for a system without certificates, such as a container from scratch

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal is not held back
	surviveFileSizeLimit()
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
