// Command imagegend runs the image generation service, keeps its users, keys and credits, and is a
// client of it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	// roots for a system without certificates, such as a container from scratch
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
)

// The first SIGINT or SIGTERM ends ctx, and the command ends in order: a server drains. NotifyContext catches signals
// until stop is called, so stop runs as soon as ctx ends. A second signal then has its default effect, unless a drain
// listens for it.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	surviveFileSizeLimit()
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
